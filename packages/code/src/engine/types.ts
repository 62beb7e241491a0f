/** The limits of one script. */
export interface ScriptLimits {
  /** From the start to the outcome, without the wait for a worker and the time in which the clock is paused. */
  readonly wallMs: number
  /** Time in which the script itself computes; waiting for calls does not count. */
  readonly cpuMs: number
  readonly memoryBytes: number
  /** At most 512 KB. */
  readonly stackBytes: number
  readonly sourceBytes: number
  readonly resultBytes: number
  /** Further lines are dropped, and one line says so. */
  readonly logBytes: number
  /** The input of one call. */
  readonly callBytes: number
  readonly maxCalls: number
  /** Further calls wait inside the script. */
  readonly maxInFlight: number
}

/** The limits of a script for which nothing else was chosen. */
export const DEFAULT_SCRIPT_LIMITS: ScriptLimits = {
  wallMs: 60_000,
  cpuMs: 10_000,
  memoryBytes: 64 * 1024 * 1024,
  stackBytes: 256 * 1024,
  sourceBytes: 256 * 1024,
  resultBytes: 1024 * 1024,
  logBytes: 64 * 1024,
  callBytes: 1024 * 1024,
  maxCalls: 256,
  maxInFlight: 32,
}

/** A call that a script makes: of a tool, `$search` with a query, or `$describe` with a name. */
export interface ScriptCall {
  /** Counts from 1, in the order in which the script makes calls. */
  readonly seq: number
  readonly tool: string
  /** A JSON value. */
  readonly input: unknown
  /** Where the script makes the call, counted from 1. */
  readonly line?: number
  readonly column?: number
}

/** The answer to a call. */
export type ScriptAnswer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: ScriptCallError }

/** What a script catches if a call fails. */
export interface ScriptCallError {
  readonly code: string
  readonly message: string
  readonly hint?: string
  /** What the call returned nevertheless, such as the output of a command that failed. A JSON value. */
  readonly data?: unknown
}

/** What a host gets with every call. */
export interface ScriptCallControl {
  /** Aborts when the script is stopped: by its own signal, a limit or a crash; or has failed while the clock is paused. */
  readonly signal: AbortSignal
  /** Stops the wall time, e.g. while a person decides, until the returned function is called or the call is answered. */
  pauseClock(): () => void
  /** Aborts the signal of this call alone, with this reason. */
  abort(reason: unknown): void
}

/** One line that a script wrote to its console. */
export interface ScriptLog {
  readonly level: 'log' | 'info' | 'warn' | 'error' | 'debug'
  readonly text: string
}

/** What a script can reach. The promises are expected not to reject; the script gets an INTERNAL error if they do. */
export interface ScriptHost {
  call(call: ScriptCall, control: ScriptCallControl): Promise<ScriptAnswer>
  /** Called for each line as it is written. */
  log(entry: ScriptLog): void
}

/** A script to run. The same script with the same answers in the same order makes the same calls. */
export interface ScriptRun {
  /**
   * JavaScript or TypeScript with top-level `await`. Its value is the value of its last expression statement; if it has
   * a top-level `return`, it is the body of an async function instead.
   */
  readonly source: string
  /** A JSON value; the script reads it as `input`. */
  readonly input: unknown
  /** The time that the script sees, in milliseconds since 1970. It does not advance. */
  readonly now: number
  /** Decides the numbers of `Math.random`. */
  readonly seed: string
  readonly limits: ScriptLimits
  /** Canonical names: `core/fs.readText` is `tools.core.fs.readText`. */
  readonly tools: readonly string[]
  readonly host: ScriptHost
  readonly signal: AbortSignal
  /** Whose share of the workers it uses; absent for the owner of the hub, who may use all of them. */
  readonly principal?: string | undefined
}

/** What a script consumed. */
export interface ScriptUsage {
  readonly cpuMs: number
  /** The most that the guest occupied at a time, with what the engine itself needs. */
  readonly memoryBytes: number
  readonly calls: number
}

/** Why a script failed. */
export type ScriptFailureKind =
  | 'SYNTAX'
  | 'SCRIPT_ERROR'
  | 'TIMEOUT'
  | 'CPU_LIMIT'
  | 'MEMORY_LIMIT'
  | 'CALL_BUDGET'
  | 'ABORTED'
  | 'ENGINE_CRASH'

/** A script that failed. */
export interface ScriptFailure {
  readonly status: 'failed'
  readonly kind: ScriptFailureKind
  readonly message: string
  /** In the source of the script, counted from 1. */
  readonly line?: number
  readonly column?: number
  /** As the error that the script did not catch has them. A script can invent them. */
  readonly code?: string
  readonly hint?: string
  readonly tool?: string
  readonly usage: ScriptUsage
}

/** A script that returned. */
export interface ScriptCompletion {
  readonly status: 'completed'
  /** A JSON value. */
  readonly value: unknown
  /** Calls that were still in flight when the script returned; all of them have been answered since. */
  readonly unawaited: readonly number[]
  readonly usage: ScriptUsage
}

/** What became of a script. */
export type ScriptOutcome = ScriptCompletion | ScriptFailure
