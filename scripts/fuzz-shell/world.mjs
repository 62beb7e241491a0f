// What there is in the sandbox of the fuzz, and so what its lines are about.

/** Where the lines run, and all they may read. */
export const ROOT = '/ws/repo'

/** Programs on the PATH. */
export const PROGRAMS = [
  ...['ls', 'cat', 'grep', 'git', 'go', 'rm', 'sudo', 'chmod', 'sh', 'bash', 'dash', 'zsh', 'env', 'curl', 'wget'],
  ...['python3', 'python', 'perl', 'ruby', 'node', 'npm', 'npx', 'xargs', 'find', 'tee', 'touch', 'cp', 'mv', 'dd'],
  ...['sed', 'awk', 'sort', 'head', 'tail', 'wc', 'cut', 'tr', 'uniq', 'id', 'whoami', 'date', 'base64', 'nice'],
  ...['nohup', 'timeout', 'setsid', 'stdbuf', 'busybox', 'tar', 'ssh', 'nc', 'vim', 'less', 'make', 'docker', 'rg'],
  ...['egrep', 'fgrep', 'zgrep', 'lsof', 'mkdir', 'ln', 'chown', 'kill', 'sleep', 'watch', 'script', 'time', 'rev'],
]

/** What bash does by itself: in the sandbox these are programs too, so that their use is seen. */
export const BUILTINS = [
  ...[':', '[', 'alias', 'bg', 'bind', 'break', 'builtin', 'caller', 'cd', 'command', 'compgen', 'complete'],
  ...['compopt', 'continue', 'declare', 'dirs', 'disown', 'echo', 'enable', 'eval', 'exec', 'exit', 'export', 'false'],
  ...['fc', 'fg', 'getopts', 'hash', 'help', 'history', 'jobs', 'let', 'local', 'logout', 'mapfile', 'popd', 'printf'],
  ...['pushd', 'pwd', 'read', 'readarray', 'readonly', 'return', 'set', 'shift', 'shopt', 'source', 'suspend', 'test'],
  ...['times', 'trap', 'true', 'type', 'typeset', 'ulimit', 'umask', 'unalias', 'unset', 'wait'],
]

/** Programs where nobody should look for them. */
export const STRAY_PROGRAMS = [
  ...['ws/repo/grep', 'ws/repo/bin/go', 'ws/repo/script.sh', 'ws/repo/x', 'ws/repo/ls', 'ws/repo/rm', 'ws/repo/run'],
  ...['tmp/ls', 'tmp/cat', 'tmp/x', 'opt/rm'],
]

/** Files of the workspace; some are named to become options where a glob meets them. */
export const INSIDE = [
  ...[
    'README.md',
    'a.txt',
    'b.txt',
    'f.txt',
    'file.txt',
    'log.txt',
    'input.txt',
    'pattern.txt',
    'main.go',
    'routes.go',
  ],
  ...["it's.txt", 'single quoted.txt', 'src/a.go', 'src/b.go', 'test/t.go', 'cmd/main.go', 'internal/i.go', 'sudo/x'],
  ...['--output=pwned', '-toolexec=rm', '--ext-diff', '-rf', '.env', 'package.json', 'docs/a b.md', 'rm -rf notes.txt'],
].map((file) => `ws/repo/${file}`)

/** Files that no allowed line reads or changes. */
export const OUTSIDE = [
  ...['etc/passwd', 'etc/shadow', 'etc/hosts', 'ws/secret.txt', 'ws/repository/x', 'ws/other/x', 'tmp/note'],
  ...['home/agent/.ssh/id_rsa', 'home/agent/.bashrc', 'root/.bashrc', 'var/log/syslog'],
]
