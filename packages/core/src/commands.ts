import type { Readable, Writable } from 'node:stream'
import type { Artifact } from './call.ts'

/** How strongly a command is isolated. */
export type SandboxLevel = 'full' | 'namespaces' | 'none'

/** What to run: words without a shell, or a line for bash. */
export type CommandLine =
  | {
      /** The program and its arguments; no shell reads them. */
      readonly argv: readonly string[]
      readonly command?: undefined
    }
  | {
      /** A line for bash; policy judges every command in it. */
      readonly command: string
      readonly argv?: undefined
    }

/** What a tool declares about a command before it runs, for policy to judge. */
export type CommandTarget = CommandLine & {
  /** Folder it will run in, below a root. Default: the first root. */
  readonly cwd?: string
  /** Names of the variables that the call adds to the environment. */
  readonly env?: readonly string[]
  /** The call writes to its standard input. */
  readonly stdin?: boolean
}

/** A command as a tool requests it. It cannot choose the sandbox. */
export type CommandRequest = CommandLine & {
  /** Below a root. Default: the first root. */
  readonly cwd?: string
  /** Added to the environment; names through which other code would run are refused. */
  readonly env?: Readonly<Record<string, string>>
  /** Written to its standard input, which is closed after it; a background command without it keeps its input open. */
  readonly stdin?: string
  /** Give it a terminal: standard output and error come as one. */
  readonly pty?: boolean
  /** Standard error goes where standard output goes, so that both come as one, each line in its place. */
  readonly mergeStderr?: boolean
  /** It may continue after its call has ended, until `timeoutMs`. */
  readonly background?: boolean
  /** How long it may run before it is killed. */
  readonly timeoutMs: number
}

/** The state of a command. */
export interface CommandState {
  /** Its session id, readable: `calm-otter-3f2a`. */
  readonly id: string
  /** As one line, for people. */
  readonly command: string
  /** Real absolute path of the folder it runs in. */
  readonly cwd: string
  /** How strongly it is isolated from the machine. */
  readonly sandbox: SandboxLevel
  /** ISO time. */
  readonly startedAt: string
  /** `lost`: it ended with its hub. */
  readonly status: 'running' | 'exited' | 'lost'
  /** Absent while it runs, and when a signal ended it. */
  readonly exitCode?: number
  /** What ended it, where it did not end by itself: `SIGKILL`. */
  readonly signal?: string
  /** It was killed because `timeoutMs` was over. */
  readonly timedOut: boolean
  /** Why the hub ended it: what it added to the disk, and the key of the limit. */
  readonly overuse?: { readonly message: string; readonly key?: string }
  /** Why the hub ended it: something new at this path, which was closed to it, was not covered any more. */
  readonly uncovered?: string
  /** How long it has run so far, or in all once it has ended. */
  readonly durationMs: number
  /** Whether it continues after its call has ended. */
  readonly isBackground: boolean
  /** It seems to wait for an answer on its standard input. */
  readonly isWaiting: boolean
  /** Bytes written so far to standard output and error. */
  readonly bytes: number
}

/** The last of what a command has written, without secrets and terminal codes. */
export interface CommandOutput {
  /** The last of its standard output. */
  readonly stdout: string
  /** The last of its standard error; empty with `pty` and `mergeStderr`. */
  readonly stderr: string
  /** Both, in the order they came. */
  readonly tail: string
  /** The first of both, where there was more than `tail` holds. */
  readonly head?: string
  /** There was more than the texts hold; `log` and the artifact have all of it. */
  readonly isCut: boolean
}

/** Some lines of what a command has written. */
export interface LogPage {
  /** The lines, standard output and error as they came. */
  readonly text: string
  /** 1-based number of the first line, and of the last; `to < from` when the page is empty. */
  readonly from: number
  /** 1-based number of the last line of the page. */
  readonly to: number
  /** Lines written so far. */
  readonly totalLines: number
}

/** A command that was started. */
export interface RunningCommand {
  /** The id that `ctx.exec.find` knows it by. */
  readonly id: string
  /** What is known of it now; does not wait. */
  state(): CommandState
  /** What it has written lately; does not wait. */
  output(): CommandOutput
  /**
   * Calls back with output as it arrives, in whole characters and at most a few times a second. Returns a function that
   * stops it.
   */
  onOutput(listener: (text: string, stream: 'stdout' | 'stderr') => void): () => void
  /** Waits for its end. Returns false if the time was over before. */
  ended(options?: { readonly withinMs?: number; readonly signal?: AbortSignal }): Promise<boolean>
  /** Waits until it has written more than was last looked at, waits for input or has ended. */
  changed(options?: { readonly withinMs?: number; readonly signal?: AbortSignal }): Promise<void>
  /** Lines of all it has written, from `offset` (1-based) on. */
  log(options?: { readonly offset?: number; readonly limit?: number }): Promise<LogPage>
  /** Writes to its standard input. */
  write(text: string): Promise<void>
  /** Closes its standard input, as the end of a file. */
  closeInput(): Promise<void>
  /** Ends it and all processes that it started. */
  kill(): Promise<void>
  /** From now on it outlives its call, and is found by its id. */
  toBackground(): Promise<void>
  /** All it has written, once it has ended and where that is more than `output()` holds; none where nothing is kept. */
  artifact(): Promise<Artifact | undefined>
}

/** A long-running program that a source of tools talks to: an MCP server, a plugin in its own process. */
export interface ProgramRequest {
  /** The program and its arguments; no shell reads them. */
  readonly argv: readonly string[]
  /** Default: the hub's own folder. */
  readonly cwd?: string
  /** Its environment in addition to what every program needs (PATH, HOME, LANG, TERM, TMPDIR). */
  readonly env?: Readonly<Record<string, string>>
  /** Runs it in the sandbox of commands. Default: false, it runs like any program of yours. */
  readonly access?: ProgramAccess
}

/** What a sandboxed program gets in addition to the system's own folders. */
export interface ProgramAccess {
  /** Further files and folders that it sees. Default: none. */
  readonly readable?: readonly string[]
  /** Folders that it may change. Default: none. */
  readonly writable?: readonly string[]
  /** Hosts that it reaches through the network guard. Default: none. */
  readonly hosts?: readonly string[]
}

/** How a program has ended. */
export interface ProgramEnd {
  /** Exit code; `null` when a signal ended it. */
  readonly code: number | null
  /** Name of the signal that ended it; `null` when it ended by itself. */
  readonly signal: string | null
}

/** A program that was started. It ends with its hub, also when that is killed. */
export interface RunningProgram {
  /** Process id on this machine. */
  readonly pid: number
  /** How strongly it is isolated; `none` without `access`. */
  readonly sandbox: SandboxLevel
  /** Its standard input. */
  readonly stdin: Writable
  /** Its standard output. */
  readonly stdout: Readable
  /** Its standard error. */
  readonly stderr: Readable
  /** Resolves when it and all processes that it started have ended. */
  readonly ended: Promise<ProgramEnd>
  /** Closes its input, then SIGTERM, then SIGKILL, each after `graceMs`; to it and all it has started. */
  stop(options?: { readonly graceMs?: number }): Promise<void>
}

/** The handle of a tool that declares `exec`. */
export interface Commands {
  /**
   * Starts a command. One that the call did not name as a target runs only where a rule allows it, since nobody can be
   * asked any more.
   */
  start(request: CommandRequest): Promise<RunningCommand>
  /** The background commands of this run, those that were lost too; the newest is last. */
  list(): readonly CommandState[]
  /** A background command of this run by its id; `undefined` if there is none. */
  find(id: string): RunningCommand | undefined
  /** Removes a command that has ended from the list. Returns false if there is none. */
  remove(id: string): boolean
}

const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/
const FIRST_PLAIN = /^[A-Za-z0-9_@%+:,./-]+$/
// As the first word bash would take these for its grammar, where a program of that name is meant.
const RESERVED = new Set(
  'if then else elif fi case esac for select while until do done in function time coproc'.split(' '),
)

/**
 * A command as one text, the same for the rule that judges it and the guard that runs it: words are quoted as bash
 * would need them.
 */
export function commandValue(line: CommandLine): string {
  if (line.argv === undefined) return line.command
  return line.argv.map((word, index) => (isPlain(word, index) ? word : quoted(word))).join(' ')
}

function isPlain(word: string, index: number): boolean {
  return index > 0 ? PLAIN.test(word) : FIRST_PLAIN.test(word) && !RESERVED.has(word)
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}
