/** A `tool-hub.yaml` for a coding agent in its folder, for `tool-hub mcp install`. */
export function codingTemplate(): string {
  return TEMPLATE
}

const TEMPLATE = `# What the coding agent may see and do in this folder; tool-hub mcp install wrote it. tool-hub policy show explains it.
version: 1

tools:
  profile: coding # files, commands, sessions and skills; tool-hub list shows them

sandbox:
  root: . # tools and commands see this folder
  # network: [api.github.com] # hosts that commands may reach; none otherwise

policy:
  - { deny: "*", on: ["~/.ssh/**", "**/*.pem", "**/*.key", "**/.env*"], reason: "secrets stay on this machine" }
  # Commands run in a sandbox. Those that only read run, and so do those listed here; any other asks.
  - { ask: exec }
  - { allow: exec, on: group:read-only }
  - { allow: exec, on: ["mkdir *", "touch *", "git add *", "git commit *"] }
  - { allow: exec, on: ["npm test *", "npm run test *", "npm run lint *", "npm run build *", "cargo test *", "go test *", "pytest *"] }
  - { ask: danger:destructive } # deleting, and overwriting files that the agent has not read

# Records of what was done, and the store; git ignores both folders.
runs: ./runs
data: ./.tool-hub
`
