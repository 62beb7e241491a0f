import type { Awaitable } from '../store.ts'

/** The index over run records: what can be looked up fast. The records are the truth; it can be built anew from them. */
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
  /** Who has called, the latest first: one entry for each pair of principal and caller, all sessions of a principal together. */
  callers(page: { limit: number }): Awaitable<readonly IndexedCaller[]>
  /** Newest first; `text` is looked for in tool, caller, purpose, summary, targets and request. */
  calls(filter: CallFilter): Awaitable<readonly IndexedCall[]>
  /** Per slice of time: how many calls, how many failed, how long they took. */
  rates(span: { since: number; sliceMs: number }): Awaitable<readonly RateSlice[]>
  /** Forgets a run that was removed, with its calls. */
  remove(run: string): Awaitable<void>
  /** Empties the index, so that it is built anew. */
  clear(): Awaitable<void>
}

export interface IndexBatch {
  /** Calls to add; a known one is completed. */
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
  /** `failed` is every state but ok, pending and running. */
  readonly status?: string
  /** Part of the tool, caller, purpose, summary, targets or request. */
  readonly text?: string
  /** Only calls that started before this time. */
  readonly before?: number
  /** Most calls of the page. */
  readonly limit: number
}

export interface RunFilter {
  /** Only runs of this caller, or of this principal with those of its sessions. */
  readonly caller?: string
  /** Part of the id, the caller, the task of its session or of one that came from it, or of what a search for calls looks at. */
  readonly text?: string
  /** Only runs that have recorded something since this time. */
  readonly since?: number
  /** Only runs that started before this time. */
  readonly before?: number
  /** Most runs of the page. */
  readonly limit: number
}

export interface IndexedCaller {
  /** As the caller said; empty for sessions. */
  readonly caller: string
  /** The principal that the runs are of, where that is known. */
  readonly principal?: string
  /** How many runs they are. */
  readonly runs: number
  /** How many calls these runs have. */
  readonly calls: number
  /** When something was last recorded in one of them. */
  readonly lastAt: number
}

export interface IndexedRun {
  /** Id of the run. */
  readonly run: string
  /** Who made its first call. */
  readonly caller: string
  /** The principal of its first call, where that is known; of a session, the one that it works for. */
  readonly principal?: string
  /** When its first call started. */
  readonly startedAt: number
  /** When something was last recorded in it. */
  readonly endedAt: number
  /** How many calls it has. */
  readonly calls: number
  /** Those of them that failed. */
  readonly failures: number
}

/** One call as lists show it. */
export interface IndexedCall {
  /** Id of the call. */
  readonly callId: string
  /** The run that it belongs to. */
  readonly run: string
  /** Line of its start in the record, or of its end when it has no other. */
  readonly seq: number
  /** Canonical name of the tool. */
  readonly tool: string
  /** Who called, as the caller said. */
  readonly caller: string
  /** Who called for certain, where that is known. */
  readonly principal?: string
  /** The call that made this one; absent for others. */
  readonly parent?: string
  /** `running` until its end is on record, then the state of its result, or `interrupted`. */
  readonly status: string
  /** When it started. */
  readonly startedAt: number
  /** Absent until its end is on record. */
  readonly durationMs?: number
  /** What policy decided. */
  readonly effect?: string
  /** The rule that decided. */
  readonly rule?: string
  /** Code of its failure; absent when it did not fail. */
  readonly error?: string
  /** What it did, in one line. */
  readonly summary?: string
  /** What it asked for, in one line: a path, an address, a command, a query. */
  readonly request?: string
  /** What it touched, one line a target. */
  readonly targets?: readonly string[]
  /** Who approved it. */
  readonly approvedBy?: string
  /** Why it was made, as the caller said. */
  readonly purpose?: string
}

export interface RateSlice {
  /** When the slice begins. */
  readonly at: number
  /** Calls that started in it. */
  readonly calls: number
  /** Those of them that failed; denied ones are counted apart. */
  readonly failures: number
  /** Those of them that were denied or need an approval. */
  readonly denials: number
  /** Mean time of a call. */
  readonly meanMs: number
  /** Longest time of a call. */
  readonly maxMs: number
}
