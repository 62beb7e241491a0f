/** What one run, session or tool may use in total. */
export interface BudgetLimits {
  /** Most calls. Default: no limit. */
  readonly calls?: number
  /** Most time of all calls together, in milliseconds. Default: no limit. */
  readonly wallMs?: number
  /** Most bytes returned in all. Default: no limit. */
  readonly bytes?: number
  /** Most cost units in all; a tool declares the cost of one call as `costUnits`. Default: no limit. */
  readonly cost?: number
}

/** A token bucket: `perSecond` on average, `burst` in a burst. */
export interface Rate {
  /** Calls per second on average; every whole 100 kB of arguments counts as one more call. */
  readonly perSecond: number
  /** Calls that may come together before the average applies. Default: `perSecond`, rounded up, at least 1. */
  readonly burst?: number
}

/** The limits that apply where neither the options nor the config set one. The config schema shows the same values. */
export const DEFAULT_LIMITS = {
  timeoutMs: 60_000,
  inputBytes: 10_000_000,
  inputDepth: 64,
  inputEntries: 50_000,
  readBytes: 5_242_880,
  httpBytes: 5_242_880,
  httpTimeoutMs: 15_000,
  downloadBytes: 104_857_600,
  undoBytes: 200_000_000,
  approvalMs: 300_000,
} as const

/** Bounds on calls; every number has a safe default. */
export interface Limits {
  /** Longest time of one call with all its attempts, for tools without a `timeoutMs` of their own. Default: 60 s. */
  readonly timeoutMs?: number
  /** Characters of text that a model gets of one call. */
  readonly outputChars?: number
  /** Most bytes of the arguments of one call. Default: 10 MB. */
  readonly inputBytes?: number
  /** Deepest nesting of arguments. Default: 64. */
  readonly inputDepth?: number
  /** Keys of objects and elements of arrays in the arguments of one call. Default: 50,000. */
  readonly inputEntries?: number
  /** What one run may use in all; then its calls end with `BUDGET_EXCEEDED`. Default: no limit. */
  readonly run?: BudgetLimits
  /**
   * Which budgets of `run` the config file writes directly below `limits`, so that messages name the key as it is
   * written.
   */
  readonly shortKeys?: ReadonlyArray<'calls' | 'time' | 'bytes' | 'cost'>
  /** What one session may use in all; a call without a session counts for the session of its run. Default: no limit. */
  readonly session?: BudgetLimits
  /**
   * What one tool may use in each run, how fast and how often at the same time, by its canonical name. Default: no
   * limits, except 8 concurrent calls of `core/exec.run`.
   */
  readonly tools?: Readonly<Record<string, BudgetLimits & { readonly rate?: Rate; readonly concurrency?: number }>>
  /** How fast tools may be called, all together; a call over it ends with `RATE_LIMITED`. Default: no limit. */
  readonly rate?: Rate
  /** Calls at the same time; further calls wait for their turn. Default: no limit. */
  readonly concurrency?: number
  /**
   * Maximum number of bytes read from a file in one operation. Default: 5 MiB; a call may then ask for up to 10 MiB.
   */
  readonly readBytes?: number
  /** Most bytes of one response. Default: 5 MiB; a call may then ask for up to 10 MiB. */
  readonly httpBytes?: number
  /** Time for one request, its redirects, retries and body. Default: 15 s. */
  readonly httpTimeoutMs?: number
  /** Most bytes of one download. Default: 100 MiB. */
  readonly downloadBytes?: number
  /** Bytes that a run keeps of what its changes replaced, for undo. Default: 200 MB. */
  readonly undoBytes?: number
  /** Bounds on each command. */
  readonly commands?: CommandLimits
}

/** What a command may use where the owner sets no limit. */
export const DEFAULT_COMMAND_LIMITS = {
  cpuMs: 600_000,
  memoryBytes: 2_000_000_000,
  processes: 256,
  fileBytes: 1_000_000_000,
  openFiles: 1_024,
  diskBytes: 10_000_000_000,
  newFiles: 500_000,
  outputBytes: 1_000_000_000,
} as const

/** What one command may use. */
export interface CommandLimits {
  /** Processor time. Default: 10 minutes. */
  readonly cpuMs?: number
  /** Memory. Default: 2 GB. */
  readonly memoryBytes?: number
  /** Concurrent processes and threads. Default: 256. */
  readonly processes?: number
  /** The largest file that it may write. Default: 1 GB. */
  readonly fileBytes?: number
  /** Open files. Default: 1,024. */
  readonly openFiles?: number
  /** Disk space that it may add; then it is ended. Default: 10 GB. */
  readonly diskBytes?: number
  /** Files and folders that it may create; then it is ended. Default: 500,000. */
  readonly newFiles?: number
  /** All it may print; then it is ended. Default: 1 GB. */
  readonly outputBytes?: number
}
