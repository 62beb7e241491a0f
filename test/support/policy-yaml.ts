/** The policy.yaml of S2, letter for letter. */
export const POLICY_YAML = `# policy.yaml
tools:
  # 默认策略
  default: ask
  
  # 工具级别策略
  read_file:
    action: allow
    constraints:
      max_size: 10MB
      allowed_paths:
        - "./"
        - "/tmp/"
      denied_paths:
        - "~/.ssh/*"
        - "**/*.pem"
        - "**/*.key"
  
  run_shell:
    action: ask
    whitelist:
      - "ls *"
      - "cat *"
      - "grep *"
      - "git status"
      - "git diff *"
      - "go build *"
      - "go test *"
    blacklist:
      - "rm -rf *"
      - "sudo *"
      - "chmod 777 *"
    
  search_files:
    action: allow
    constraints:
      max_results: 100
`
