import type { Readable, Writable } from 'node:stream'
import { ToolError } from '@tool-hub/core'
import type { SandboxLaunch } from '../isolation/sandbox.ts'
import type { StartRequest } from './starter.ts'

// The hub and its spawner exchange JSON objects, one per line. The two tables below are the only description of the
// messages: the types and the validation both follow from them.

type Check<Value> = (value: unknown) => value is Value
type Schema = Readonly<Record<string, Check<unknown>>>
type Checked<C> = C extends Check<infer Value> ? Value : never
type Fields<S> = {
  readonly [K in keyof S as undefined extends Checked<S[K]> ? never : K]: Checked<S[K]>
} & { readonly [K in keyof S as undefined extends Checked<S[K]> ? K : never]?: Checked<S[K]> }
type Message<Table> = { [T in keyof Table]: { readonly type: T } & Fields<Table[T]> }[keyof Table]

const text: Check<string> = (value): value is string => typeof value === 'string'
const flag: Check<boolean> = (value): value is boolean => typeof value === 'boolean'
const count: Check<number> = (value): value is number => Number.isSafeInteger(value) && (value as number) >= 0

const HUB_MESSAGES = {
  /** Starts a prewarmed process: a shell outside of any sandbox that waits to become one. */
  prewarm: {
    id: count,
    level: oneOf('full', 'namespaces', 'none'),
    env: recordOf(text),
    /** The filter's program in base64, and the descriptor from which the sandbox reads it. */
    seccomp: optional(object({ fd: count, program: text })),
    hasHelper: flag,
    /** The sandbox may run further commands after its first one; its shells create the pipes of each. */
    isReusable: flag,
    /** Files of its cgroup, to which it writes in order to join. */
    joinFiles: listOf(text),
  },
  /** Turns a prewarmed process into a sandbox, whose shell waits for its command. */
  open: {
    id: count,
    file: text,
    args: listOf(text),
    /** Paths whose mounts are checked before the sandbox gets its command. */
    swappable: optional(listOf(text)),
    /** Paths that must be mounted as long as the command runs. */
    closed: optional(listOf(text)),
    /** Opened before there is a command: whether its folders are still the same is checked when the command comes. */
    isWarm: flag,
  },
  /**
   * Gives a sandbox its command. `helper` is a script to run first, whose first line of output is awaited. `nextId`: the
   * id under which the sandbox waits for another command when this one has ended, if it can be used again. A sandbox that
   * does not report within `startMs` how the start went is killed.
   */
  run: { id: count, script: text, helper: optional(text), nextId: optional(count), startMs: count },
  /** The hub has opened its ends of the pipes. */
  connected: { id: count },
  /** `graceMs`: how long the command has between SIGTERM and SIGKILL. */
  stop: { id: count, graceMs: optional(count) },
  /** The hub knows that the sandbox has ended. */
  release: { id: count },
} as const satisfies Readonly<Record<string, Schema>>

const SPAWNER_MESSAGES = {
  hello: {},
  /** Where the hub opens its ends of the command's pipes: input, output, errors. */
  pipes: { id: count, paths: listOf(text, 3) },
  /** The command has replaced the shell; `pid` is its process id outside of the sandbox. */
  running: { id: count, pid: optional(count) },
  /** The shell reports why it could not start the command. */
  refused: { id: count, reason: text },
  /** The sandbox failed to start, or has ended; `reason` is what the sandbox itself reported. */
  broken: { id: count, reason: text },
  /**
   * No process of the command is left; always the last message with this id. `uncovered`: it was killed because a new
   * file at this path, which the sandbox had closed, was no longer covered.
   */
  ended: { id: count, exitCode: optional(count), signal: optional(text), uncovered: optional(text) },
} as const satisfies Readonly<Record<string, Schema>>

/** A message from the hub to its spawner. */
export type HubMessage = Message<typeof HUB_MESSAGES>
export type PrewarmMessage = Extract<HubMessage, { type: 'prewarm' }>
export type OpenMessage = Extract<HubMessage, { type: 'open' }>
export type RunMessage = Extract<HubMessage, { type: 'run' }>

/** A message from the spawner to its hub. */
export type SpawnerMessage = Message<typeof SPAWNER_MESSAGES>

/** How a command ended. */
export type Exit = Omit<Extract<SpawnerMessage, { type: 'ended' }>, 'type' | 'id'>

/** Parses a line from the hub; throws if it is not a valid message. */
export function parseHubMessage(line: string): HubMessage {
  const message: unknown = JSON.parse(line)
  if (isMessage(HUB_MESSAGES, message)) return message
  throw new TypeError(`not a message to the spawner: ${line.slice(0, 200)}`)
}

/** Parses a line from the spawner; throws if it is not a valid message. */
export function parseSpawnerMessage(line: string): SpawnerMessage {
  const message: unknown = JSON.parse(line)
  if (isMessage(SPAWNER_MESSAGES, message)) return message
  throw new TypeError(`not a message of the spawner: ${line.slice(0, 200)}`)
}

/** Writes a message. Those of one turn are written together: every write wakes the other process. */
export function writeLine(stream: Writable, message: HubMessage | SpawnerMessage): void {
  stream.cork()
  process.nextTick(() => stream.uncork())
  stream.write(`${JSON.stringify(message)}\n`)
}

/** Calls `onLine` for every complete line of a UTF-8 stream; text after the last newline is dropped. */
export function forEachLine(stream: Readable, onLine: (line: string) => void): void {
  let rest = ''
  stream.setEncoding('utf8')
  stream.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()!
    for (const line of lines) onLine(line)
  })
}

function isMessage<Table extends Readonly<Record<string, Schema>>>(
  table: Table,
  value: unknown,
): value is Message<Table> {
  if (!isObject(value) || !text(value.type) || !Object.hasOwn(table, value.type)) return false
  return object(table[value.type]!)(value)
}

function object<S extends Schema>(schema: S): Check<Fields<S>> {
  const checks = Object.entries(schema)
  return (value): value is Fields<S> => isObject(value) && checks.every(([name, check]) => check(value[name]))
}

function optional<Value>(check: Check<Value>): Check<Value | undefined> {
  return (value): value is Value | undefined => value === undefined || check(value)
}

function oneOf<const Value extends string>(...values: readonly Value[]): Check<Value> {
  return (value): value is Value => values.includes(value as Value)
}

function listOf<Item>(check: Check<Item>, length?: number): Check<readonly Item[]> {
  return (value): value is readonly Item[] =>
    Array.isArray(value) && value.every(check) && (length === undefined || value.length === length)
}

function recordOf<Value>(check: Check<Value>): Check<Readonly<Record<string, Value>>> {
  return (value): value is Readonly<Record<string, Value>> => isObject(value) && Object.values(value).every(check)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

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

function terminalWords({ words, env, sandbox: { env: inherited } }: StartRequest): readonly string[] {
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
