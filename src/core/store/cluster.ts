import type { Awaitable } from '../store.ts'

/** The processes that share a store, by their heartbeats. The clock of the database decides who is alive. */
export interface ProcessStore {
  /** Adds the process, or renews its heartbeat. Returns the time of the database. */
  beat(process: NewProcess): Awaitable<{ readonly now: number }>
  /** The processes whose last heartbeat is at most a day old, oldest first. */
  list(): Awaitable<readonly StoredProcess[]>
  /** Removes a process that has ended in good order: what it owned is free immediately. */
  remove(id: string): Awaitable<void>
}

/** A process, as it describes itself. */
export interface NewProcess {
  /** Unique over all machines and restarts. */
  readonly id: string
  /** What the process does: answers requests, executes calls of others, or embeds the library. */
  readonly kind: 'service' | 'worker' | 'library'
  /** The URL at which other processes reach it; absent if they cannot. */
  readonly address?: string
  /** Name of its machine. */
  readonly host: string
  /** Its process id on that machine. */
  readonly pid: number
  /** Its version of tool-hub. */
  readonly version: string
  /** Labels of a worker. */
  readonly labels: readonly string[]
  /** Calls that it executes now. */
  readonly running: number
  /** How many calls a worker executes concurrently; absent for others. */
  readonly concurrency?: number
  /** Whether it takes no more work because it is about to end. */
  readonly isDraining: boolean
  /** SHA-256 of its rules: processes of one hub should have the same. */
  readonly policy?: string
  /** When it started, by the clock of its machine. */
  readonly startedAt: number
}

/** A process with its heartbeat. */
export interface StoredProcess extends NewProcess {
  /** Time of its last heartbeat, by the clock of the database. */
  readonly seenAt: number
  /** Whether the last heartbeat is at most 10 s old. */
  readonly isAlive: boolean
}

/** What the store knows of a run in addition to its index: who owns it, where it lives, and whether it is tainted. */
export interface RunStore {
  /** The state of a run; `undefined` for a run that nobody has marked or leased. */
  find(run: string): Awaitable<StoredRun | undefined>
  /**
   * Leases the run to a process: if it is free, if its process has ended or missed its heartbeats (the epoch is then one
   * higher), or if this process has it already (the lease is then renewed). The principal is that of the first lease of
   * a run without a state; it is never changed. Returns the state afterwards: compare `owner`.
   */
  lease(run: string, lease: { readonly owner: string; readonly principal?: string }): Awaitable<StoredRun>
  /** Renews a lease, so that nobody who believed its process dead can take the run. Returns false if the run has moved. */
  renew(run: string, held: RunLease): Awaitable<boolean>
  /** Ends the lease; nothing happens if the run was leased to another process or in a later epoch. */
  release(run: string, held: RunLease): Awaitable<void>
  /** Sets the principal of a run without a state; returns the state afterwards: compare `principal`. */
  own(run: string, principal: string): Awaitable<StoredRun>
  /** Replaces what has tainted the run; an empty list clears it. Returns false if `held` is no longer the lease. */
  taint(run: string, sources: readonly string[], held?: RunLease): Awaitable<boolean>
  /** The runs that are leased, for people who look at the cluster. */
  leases(filter?: { readonly owner?: string; readonly limit?: number }): Awaitable<readonly StoredRun[]>
  /** Removes the state of a run that is removed. */
  remove(run: string): Awaitable<void>
}

/** The lease that a process holds on a run. Every write for the run carries it: after the run has moved, none succeeds. */
export interface RunLease {
  /** Id of the process. */
  readonly owner: string
  /** Counts the owners of the run. */
  readonly epoch: number
}

/** The state of a run. */
export interface StoredRun {
  /** Id of the run. */
  readonly run: string
  /** Principal that the run belongs to; absent for a run of the hub's owner. */
  readonly principal?: string
  /** The process that has leased it; absent if it is free. */
  readonly owner?: string
  /** How often it was leased to another process. */
  readonly epoch: number
  /** When it was leased last, by the clock of the database. */
  readonly leasedAt?: number
  /** What has tainted the run; empty if it is not tainted. */
  readonly taintedBy: readonly string[]
  /** Whether a taint was cleared: what the run kept before may be from outside. */
  readonly wasCleared: boolean
}

/** What all processes that share a store agree on. */
export interface SettingStore {
  /** A secret of 32 random bytes, which the first process that asks for it creates. */
  secret(name: string): Awaitable<Uint8Array>
}

/** The records of runs as other machines read them: contiguous segments of lines, each with the hash of its last line. */
export interface SegmentStore {
  /**
   * Adds segments, each only if its lease is the current one of the run and it continues the last segment. All are added in
   * one statement or transaction. Returns for each segment whether it was added.
   */
  append(segments: readonly NewSegment[]): Awaitable<readonly SegmentOutcome[]>
  /** The last line that is shared, for each run or for one. */
  heads(filter?: { readonly run?: string }): Awaitable<readonly SharedHead[]>
  /** Segments from a line on, in order. */
  read(run: string, page: { readonly from: number; readonly limit: number }): Awaitable<readonly StoredSegment[]>
  /** Replaces the lines of segments by one object elsewhere, such as a bucket, which holds all of them. */
  move(run: string, moved: { readonly first: number; readonly last: number; readonly object: string }): Awaitable<void>
  /** Removes the shared record of a run. */
  remove(run: string): Awaitable<void>
}

/** Why a segment was not added: the run has moved to another process, or lines before it are missing or differ. */
export type SegmentOutcome = 'added' | 'moved' | 'gap'

/** Consecutive lines of the record of a run. */
export interface NewSegment {
  /** Id of the run. */
  readonly run: string
  /** The lease under which the lines were written. */
  readonly held: RunLease
  /** Number of the first line. */
  readonly first: number
  /** Number of the last line. */
  readonly last: number
  /** Hash of the line before the first one; empty for the first line of a run. */
  readonly after: string
  /** Hash of the last line. */
  readonly hash: string
  /** The lines, as they are in the file. */
  readonly lines: string
}

/** A segment that is shared. */
export interface StoredSegment {
  /** Number of the first line. */
  readonly first: number
  /** Number of the last line. */
  readonly last: number
  /** Hash of the last line. */
  readonly hash: string
  /** The epoch in which it was written. */
  readonly epoch: number
  /** The lines; absent if they are in `object`. */
  readonly lines?: string
  /** Name of the object that holds the lines. */
  readonly object?: string
}

/** The last shared line of a run. */
export interface SharedHead {
  /** Id of the run. */
  readonly run: string
  /** Number of the line. */
  readonly seq: number
  /** Its hash. */
  readonly hash: string
  /** The epoch in which it was written. */
  readonly epoch: number
}

/** Content by its SHA-256: artifacts and what undo needs. */
export interface BlobStore {
  /** Stores content unless it is there already. */
  put(hash: string, content: Uint8Array): Awaitable<void>
  /** Whether the content is there. */
  has(hash: string): Awaitable<boolean>
  /** The content; `undefined` if it is not there. */
  get(hash: string): Awaitable<Uint8Array | undefined>
}
