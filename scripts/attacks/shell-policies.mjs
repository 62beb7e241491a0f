// The policies of the command lines, by name.

export const SHELL_POLICIES = {
  /** That of the corpus (its README.md). */
  corpus: {
    allow: ['ls *', 'cat *', 'grep *', 'git status', 'git diff *', 'go build *', 'go test *'],
    deny: ['rm -rf *', 'sudo *', 'chmod 777 *'],
  },
  /** What somebody who works with an agent every day allows it. */
  dev: {
    allow: [
      ...['ls *', 'cat *', 'grep *', 'rg *', 'find *', 'head *', 'tail *', 'wc *', 'sort *', 'uniq *', 'cut *', 'tr *'],
      ...['git status *', 'git diff *', 'git log *', 'git show *', 'git branch *', 'git blame *', 'git rev-parse *'],
      ...['git ls-files *', 'npm test *', 'npm run lint', 'npm run build *', 'npx tsc --noEmit *', 'node --version'],
      ...[
        'cargo build *',
        'cargo test *',
        'cargo check *',
        'make test *',
        'python3 -m pytest *',
        'go vet *',
        'go list *',
      ],
      ...['go version', 'echo *', 'pwd', 'which *', 'date *', 'diff *', 'du *', 'file *', 'stat *', 'true', 'sed -n *'],
      ...['basename *', 'realpath *', 'cd *'],
    ],
    deny: ['rm -rf *', 'sudo *', 'chmod 777 *', 'git push *'],
  },
  /** Everything is allowed but some commands. */
  general: { deny: ['rm -rf *', 'curl *', 'git push *'] },
  /** Builtins that look harmless. */
  builtins: {
    allow: ['test *', 'printf *', 'read *', 'echo *', 'unset *', 'let *', 'declare *', 'export *', 'wait *'],
    deny: ['rm -rf *'],
  },
}
