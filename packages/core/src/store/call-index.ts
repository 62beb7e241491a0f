import type { Awaitable } from '../lib/index.ts'

/** The index over run records, for fast lookups. The records are the source of truth; the index can be rebuilt from them. */
export interface CallIndex {
  /** Adds or completes calls and runs, and remembers how far each run's record was read. */
  put(batch: IndexBatch): Awaitable<void>
  /** How far a run's record is in the index, in bytes; 0 for one that is not. */
  position(run: string): Awaitable<number>
  /** A run by its id; `undefined` if it is not in the index. */
  run(id: string): Awaitable<IndexedRun | undefined>
  /** A call by its id; `undefined` if it is not in the index. */
  call(callId: string): Awaitable<IndexedCall | undefined>
  /** Newest first. */
  runs(filter: RunFilter): Awaitable<readonly IndexedRun[]>
  /** The callers, latest first: one entry for each pair of principal and caller, and one for all sessions of a principal. */
  callers(page: { limit: number }): Awaitable<readonly IndexedCaller[]>
  /** Newest first; `text` is looked for in tool, caller, purpose, summary, targets and request. */
  calls(filter: CallFilter): Awaitable<readonly IndexedCall[]>
  /** Per slice of time: how many calls, how many failed, how long they took. */
  rates(span: { since: number; sliceMs: number }): Awaitable<readonly RateSlice[]>
  /** Removes a run and its calls. */
  remove(run: string): Awaitable<void>
  /** Empties the index, so that it can be rebuilt. */
  clear(): Awaitable<void>
}

export interface IndexBatch {
  /** Calls to add; a call that exists is completed. */
  readonly calls: readonly IndexedCall[]
  /** How far the record of each run was read, in bytes. */
  readonly runs: readonly { readonly run: string; readonly bytes: number; readonly at: number }[]
}

export interface CallFilter {
  /** Only calls of this run. */
  readonly run?: string
  /** Only calls of this tool, by canonical name. */
  readonly tool?: string
  /** Only calls of this caller. */
  readonly caller?: string
  /** `failed` is every status except ok, pending and running. */
  readonly status?: string
  /** Part of the tool, caller, purpose, summary, targets or request. */
  readonly text?: string
  /** Only calls that started before this time. */
  readonly before?: number
  /** Maximum number of calls. */
  readonly limit: number
}

export interface RunFilter {
  /** Only runs of this caller, or of this principal with those of its sessions. */
  readonly caller?: string
  /** Part of the id, the caller, the task of its session or of a descendant, or of the text in which calls are searched. */
  readonly text?: string
  /** Only runs that have recorded something since this time. */
  readonly since?: number
  /** Only runs that started before this time. */
  readonly before?: number
  /** Maximum number of runs. */
  readonly limit: number
}

export interface IndexedCaller {
  /** As the caller named itself; empty for sessions. */
  readonly caller: string
  /** The principal of the runs, if it is known. */
  readonly principal?: string
  /** The number of runs. */
  readonly runs: number
  /** The number of calls in these runs. */
  readonly calls: number
  /** When something was last recorded in one of them. */
  readonly lastAt: number
}

export interface IndexedRun {
  /** Id of the run. */
  readonly run: string
  /** The caller of its first call. */
  readonly caller: string
  /** The principal of its first call, if it is known; for a session, the one that it works for. */
  readonly principal?: string
  /** When its first call started. */
  readonly startedAt: number
  /** When something was last recorded in it. */
  readonly endedAt: number
  /** The number of its calls. */
  readonly calls: number
  /** How many of them failed. */
  readonly failures: number
  /** How many of them were denied. */
  readonly denials: number
}

/** One call as lists show it. */
export interface IndexedCall {
  /** Id of the call. */
  readonly callId: string
  /** The run that it belongs to. */
  readonly run: string
  /** Line of its start in the record, or of its end if the start is missing. */
  readonly seq: number
  /** Canonical name of the tool. */
  readonly tool: string
  /** The caller, as it named itself. */
  readonly caller: string
  /** The authenticated principal, if it is known. */
  readonly principal?: string
  /** The call that made this one; absent if none did. */
  readonly parent?: string
  /** `running` until its end is on record, then the status of its result, or `interrupted`. */
  readonly status: string
  /** When it started. */
  readonly startedAt: number
  /** Absent until its end is on record. */
  readonly durationMs?: number
  /** How often it was tried; absent if once, or until its end is on record. */
  readonly attempts?: number
  /** The decision of the policy. */
  readonly effect?: string
  /** The rule that decided. */
  readonly rule?: string
  /** Code of its error; absent if it did not fail. */
  readonly error?: string
  /** What it did, in one line. */
  readonly summary?: string
  /** Its request in one line: a path, a URL, a command, a query. */
  readonly request?: string
  /** Its targets, one line each. */
  readonly targets?: readonly string[]
  /** The person who approved it. */
  readonly approvedBy?: string
  /** Its purpose, as the caller stated it. */
  readonly purpose?: string
}

export interface RateSlice {
  /** When the slice begins. */
  readonly at: number
  /** Calls that started in it. */
  readonly calls: number
  /** How many of them failed, without those that were denied and those that failed because of their caller. */
  readonly failures: number
  /** How many of them were denied or need an approval. */
  readonly denials: number
  /** How many of them failed because of their caller: wrong arguments, a missing file, a call that it stopped. */
  readonly callerErrors: number
  /** Mean duration of a call. */
  readonly meanMs: number
  /** Maximum duration of a call. */
  readonly maxMs: number
}
