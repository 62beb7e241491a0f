import { ToolError } from '../../../core/index.ts'
import type { SandboxLaunch } from '../isolation/sandbox.ts'
import type { StartRequest } from './starter.ts'

// All text that a shell executes is generated here. Values from outside only appear inside single quotes; everything
// else is constant.

/**
 * Where a prewarmed process finds the pipes of its command, the pipe on which the sandbox's shell reports, and the one
 * from which that shell reads. One digit each, as dash requires.
 */
export interface ShellDescriptors {
  readonly stdin: number
  readonly stdout: number
  readonly stderr: number
  readonly report: number
  readonly script: number
}

/** What the shell reports when it waits for its command. */
export const READY = 'ready'
/** What the shell reports last before it becomes the command; without it, the pipe closes because the shell was killed. */
export const STARTING = 'starting'

/** The descriptors for a sandbox: those that its filter does not need. */
export function descriptorsFor(sandbox: { readonly seccomp?: { readonly fd: number } }): ShellDescriptors {
  const [stdin, stdout, stderr, report, script] = [3, 4, 5, 6, 7, 8].filter((fd) => fd !== sandbox.seccomp?.fd)
  return { stdin: stdin!, stdout: stdout!, stderr: stderr!, report: report!, script: script! }
}

/** What a prewarmed process runs first: it joins its cgroup, so that everything it becomes and starts is born inside. */
export function joinScript(joinFiles: readonly string[]): string {
  // If a group cannot be joined, the command still has the limits of each process.
  return joinFiles.map((file) => `{ echo 0 >${shellQuote(file)}; } 2>/dev/null\n`).join('')
}

/**
 * Turns a prewarmed process into a sandbox around another shell. That shell reads from a descriptor of its own: shells
 * read ahead, and the outer one would swallow text that is meant for the inner one.
 */
export function becomeScript(
  sandbox: { readonly file: string; readonly args: readonly string[] },
  { script }: ShellDescriptors,
): string {
  const words = [sandbox.file, ...sandbox.args, '/bin/sh']
  return `exec ${words.map(shellQuote).join(' ')} <&${script} ${script}<&-\n`
}

/** What the sandbox's shell runs first, to report that the sandbox is ready. */
export function readyScript({ report }: ShellDescriptors): string {
  return `echo ${READY} >&${report}\n`
}

/**
 * Turns a waiting shell into the command. The report pipe says how it went: after `STARTING` it closes without another
 * line once the command has replaced the shell, since the shell's own copies are closed on exec.
 */
export function launchScript(request: StartRequest): string {
  const descriptors = descriptorsFor(request.sandbox)
  const { report } = descriptors
  const program = shellQuote(request.words[0] ?? '')
  const words = request.pty ? terminalWords(request) : request.words
  return [
    `trap 'echo "exec $?" >&${report}' EXIT`,
    `refuse() { trap - EXIT; echo "$1" >&${report}; exit 125; }`,
    `cd ${shellQuote(request.cwd)} 2>/dev/null || refuse cwd`,
    'unset OLDPWD',
    ...Object.entries(request.env).map(([name, value]) => `export ${checkName(name)}=${shellQuote(value)}`),
    ...(request.pty ? [...TERMINAL_CHECKS, `SHELL=/bin/sh; export SHELL`] : []),
    // Checked first, because some shells (bash) cannot say afterwards why exec failed.
    `case ${program} in`,
    `*/*) [ -e ${program} ] || refuse missing; [ ! -d ${program} ] || refuse directory; [ -x ${program} ] || refuse denied ;;`,
    `*) command -v ${program} >/dev/null 2>&1 || refuse missing ;;`,
    'esac',
    `echo ${STARTING} >&${report}`,
    `exec ${words.map(shellQuote).join(' ')} ${redirections(descriptors, request.pty || request.mergeStderr === true)}`,
    '',
  ].join('\n')
}

/** Starts a sandbox's helper process. It prints a line on the shell's output when it is ready, an empty one when it ends. */
export function helperScript(sandbox: SandboxLaunch): string | undefined {
  if (sandbox.helper === undefined) return undefined
  const { stdin, stdout, stderr, report } = descriptorsFor(sandbox)
  const closed = `</dev/null 2>/dev/null ${stdin}<&- ${stdout}>&- ${stderr}>&- ${report}>&-`
  // Twice in the background, so that it is not a child of the command, which may wait for all of its children.
  return `( ( ${sandbox.helper.map(shellQuote).join(' ')}; echo ) ${closed} & )\n`
}

/** Quotes a word so that a shell reads it back byte by byte. */
export function shellQuote(word: string): string {
  if (word.includes('\0')) {
    throw new ToolError(
      'INPUT_SCHEMA_INVALID',
      'A word of the command contains a NUL character, which no program can receive.',
    )
  }
  return `'${word.replaceAll("'", `'\\''`)}'`
}

const TERMINAL_CHECKS = [
  'command -v script >/dev/null 2>&1 || refuse no-terminal',
  'export TERM="${TERM:-xterm-256color}"',
]

function terminalWords({ words, env, sandbox: { env: inherited } }: StartRequest): readonly string[] {
  // `script` runs its line with $SHELL; the command must see its own value again.
  const shell = env.SHELL ?? inherited.SHELL
  const restored = shell === undefined ? 'unset SHELL' : `SHELL=${shellQuote(shell)}`
  const line = `${restored}; stty rows 24 cols 80 2>/dev/null; exec ${words.map(shellQuote).join(' ')}`
  return ['script', '-q', '-e', '-f', '-c', line, '/dev/null']
}

function redirections({ stdin, stdout, stderr, report }: ShellDescriptors, isMerged: boolean): string {
  const errors = isMerged ? stdout : stderr
  return `<&${stdin} >&${stdout} 2>&${errors} ${stdin}<&- ${stdout}>&- ${stderr}>&- ${report}>&-`
}

function checkName(name: string): string {
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return name
  throw new ToolError('INPUT_SCHEMA_INVALID', `Invalid name of an environment variable: ${JSON.stringify(name)}.`, {
    hint: 'Names consist of letters, digits and _, and do not begin with a digit.',
  })
}
