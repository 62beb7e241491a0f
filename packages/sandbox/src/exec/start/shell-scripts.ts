import { ToolError } from '@tool-hub/core'
import type { SandboxLaunch } from '../isolation/sandbox.ts'

// All text that a shell executes is generated here. Values from outside only appear inside single quotes; everything
// else is constant.

/** A command to start, after its sandbox was decided. */
export interface CommandLaunch {
  readonly sandbox: SandboxLaunch
  /** Never empty. */
  readonly words: readonly string[]
  readonly cwd: string
  /** Added to the sandbox's environment. */
  readonly env: Readonly<Record<string, string>>
  readonly pty: boolean
  /** Standard error is written to standard output. */
  readonly mergeStderr?: boolean
}

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

/** What the supervisor of a reusable sandbox reports before it starts the shell for its first command. */
export const SUPERVISING = 'supervising'
/** What that shell reports when it has created the pipes of its command, and waits for it. */
export const PIPED = 'piped'
/** What the shell reports when it waits for its command. */
export const READY = 'ready'
/** What the shell reports last before it becomes the command; without it, the pipe closes because the shell was killed. */
export const STARTING = 'starting'
/** What the supervisor reports first when a command has ended, followed by its exit code. */
export const EXITED = 'exited '
/** What it reports then: no process of the command is left, and nothing that could not be removed. */
export const CLEAN = 'clean'
/** The same if something is left. */
export const UNCLEAN = 'unclean'

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
  shell: string = '/bin/sh',
): string {
  const words = [sandbox.file, ...sandbox.args, shell]
  return `exec ${words.map(shellQuote).join(' ')} <&${script} ${script}<&-\n`
}

/** Where a reusable sandbox has the program of its supervisor. */
export const SUPERVISOR = '/run/supervisor'

/**
 * The signals that would end or stop the supervisor if a command sends them to its process group: HUP to QUIT, USR1, USR2,
 * ALRM to STKFLT, TSTP to TTOU, VTALRM, PROF, IO, PWR and all real-time signals, by number since shells do not know every
 * name. KILL and STOP cannot be caught, and those that a defect of the supervisor raises keep their effect.
 */
const GROUP_SIGNALS = [1, 2, 3, 10, 12, 14, 15, 16, 20, 21, 22, 26, 27, 29, 30, ...range(34, 64)]

/** Waiting for killed processes to disappear takes microseconds; a process that takes longer than this is stuck. */
const MAX_LOOKS = 20_000

/**
 * What the supervisor of a reusable sandbox runs: it starts a shell, which becomes the command, and waits for it. Then it
 * kills every other process of the sandbox, and checks that none is left and no System V shared memory, semaphore or
 * queue exists. Only its own folder and that of process 1 are then in /proc. A command which signals its process group
 * also reaches the supervisor, which does nothing then; a session of its own for each command would take 0.6 ms.
 *
 * Each shell is started after a line with the secret `go`. A shell may die while it reads its command: the next one would
 * run the rest of the text.
 */
export function superviseScript({ report }: ShellDescriptors, go: string): string {
  const to = `>&${report}`
  return `exec 2>/dev/null
trap : ${GROUP_SIGNALS.join(' ')}
echo ${SUPERVISING} ${to}
while read -r line && [ "$line" = ${shellQuote(go)} ]; do
  /bin/sh
  echo ${EXITED}$? ${to}
  kill -9 -1
  looks=0
  while set -- /proc/[0-9]*; [ $# -gt 2 ] && [ $looks -lt ${MAX_LOOKS} ]; do looks=$((looks + 1)); done
  [ $# -le 2 ] || { echo ${UNCLEAN} ${to}; exit; }
  for list in /proc/sysvipc/*; do
    [ ! -f "$list" ] || { read -r line && read -r line && { echo ${UNCLEAN} ${to}; exit; }; } <"$list"
  done
  echo ${CLEAN} ${to}
done
exit
`
}

/**
 * Creates the pipes of the next command: here-documents, which the spawner opens through /proc. Not empty, since bash uses
 * /dev/null for an empty one. The pipe at the script's descriptor closes when the shell becomes the command.
 */
export function pipesScript({ stdin, stdout, stderr, script, report }: ShellDescriptors): string {
  const pipes = [stdin, stdout, stderr, script]
  return `exec ${pipes.map((fd) => `${fd}<<E`).join(' ')}\n${'.\nE\n'.repeat(pipes.length)}echo ${PIPED} >&${report}\n`
}

/** Keeps only the command's ends of the pipes: runs before `launchScript`. */
export function endsScript({ stdout, stderr, script }: ShellDescriptors): string {
  return `exec ${[stdout, stderr, script].map((fd) => `${fd}>/proc/self/fd/${fd}`).join(' ')}\n`
}

/** What the sandbox's shell runs first, to report that the sandbox is ready. */
export function readyScript({ report }: ShellDescriptors): string {
  return `echo ${READY} >&${report}\n`
}

/**
 * Turns a waiting shell into the command. The report pipe says how it went: after `STARTING` it closes without another
 * line once the command has replaced the shell, since the shell's own copies are closed on exec.
 */
export function launchScript(request: CommandLaunch): string {
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

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
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

function terminalWords({ words, env, sandbox: { env: inherited } }: CommandLaunch): readonly string[] {
  // `script` runs its line with $SHELL; the command must see its own value again.
  const shell = env.SHELL ?? inherited.SHELL
  const restored = shell === undefined ? 'unset SHELL' : `SHELL=${shellQuote(shell)}`
  const line = `${restored}; stty rows 24 cols 80 2>/dev/null; exec ${words.map(shellQuote).join(' ')}`
  return ['script', '-q', '-e', '-f', '-c', line, '/dev/null']
}

function redirections({ stdin, stdout, stderr, report, script }: ShellDescriptors, isMerged: boolean): string {
  const errors = isMerged ? stdout : stderr
  return `<&${stdin} >&${stdout} 2>&${errors} ${stdin}<&- ${stdout}>&- ${stderr}>&- ${report}>&- ${script}>&-`
}

function checkName(name: string): string {
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return name
  throw new ToolError('INPUT_SCHEMA_INVALID', `Invalid name of an environment variable: ${JSON.stringify(name)}.`, {
    hint: 'Names consist of letters, digits and _, and do not begin with a digit.',
  })
}
