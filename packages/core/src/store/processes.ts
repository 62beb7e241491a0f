import type { Awaitable } from '../lib/index.ts'

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
   * a run without a state; it is never changed. Returns the state afterwards: compare `owner`. `takenFrom` is the process
   * that has left the run without releasing it: one that has ended, or this one.
   */
  lease(
    run: string,
    lease: { readonly owner: string; readonly principal?: string },
  ): Awaitable<StoredRun & { readonly takenFrom?: string }>
  /** Renews a lease, so that nobody who believed its process dead can take the run. Returns false if the run has moved. */
  renew(run: string, held: RunLease): Awaitable<boolean>
  /**
   * Ends the lease; nothing happens if the run was leased to another process or in a later epoch. With `to`, the run is left
   * to a process that has ended, so that others see that its record was not closed.
   */
  release(run: string, held: RunLease, to?: string): Awaitable<void>
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

/** A run with the lease under which something was done for it. */
export interface HeldRun extends RunLease {
  /** Id of the run. */
  readonly run: string
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
   * one transaction, with the same number of statements however many runs there are. Returns for each segment whether it
   * was added.
   */
  append(segments: readonly NewSegment[]): Awaitable<readonly SegmentOutcome[]>
  /** The last line that is shared, for each run or for one. */
  heads(filter?: { readonly run?: string }): Awaitable<readonly SharedHead[]>
  /** Segments from a line on, in order. */
  read(run: string, page: { readonly from: number; readonly limit: number }): Awaitable<readonly StoredSegment[]>
  /**
   * Replaces the lines of segments by one object elsewhere, such as a bucket, which holds all of them. Returns false, and
   * changes nothing, if the segments do not cover exactly these lines.
   */
  move(run: string, moved: MovedSegments): Awaitable<boolean>
  /** Removes the shared record of a run. Returns the objects elsewhere that held a part of it. */
  remove(run: string): Awaitable<readonly string[]>
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
  /** When they are shared. */
  readonly at: number
}

/** Which lines are in an object now. */
export interface MovedSegments {
  /** Number of the first line. */
  readonly first: number
  /** Number of the last line. */
  readonly last: number
  /** Name of the object. */
  readonly object: string
}

/** A segment that is shared. */
export interface StoredSegment {
  /** Number of the first line. */
  readonly first: number
  /** Number of the last line. */
  readonly last: number
  /** Hash of the line before the first one. */
  readonly after: string
  /** Hash of the last line. */
  readonly hash: string
  /** The epoch in which it was written; of its last line, if it is in an object. */
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
  /** When it was shared. */
  readonly at: number
}

/**
 * Content by its SHA-256: artifacts and what undo needs. It is stored in parts, so that neither a process nor a statement
 * holds all of it, or as an object elsewhere. Content that no run uses any more is removed a day after its last use.
 */
export interface BlobStore {
  /** Adds a part of content that is being stored; the name of the upload is new for each attempt. */
  addPart(
    upload: string,
    part: { readonly number: number; readonly content: Uint8Array; readonly at: number },
  ): Awaitable<void>
  /** Completes content whose parts or object are stored, and notes that the run uses it. Content that is there stays. */
  add(blob: NewBlob): Awaitable<void>
  /** Notes that a run uses content. Returns false if the content is not there. */
  use(hash: string, use: { readonly run: string; readonly at: number }): Awaitable<boolean>
  /** Where content is that a run uses; `undefined` if it is not there, or the run does not use it. */
  find(hash: string, run: string): Awaitable<StoredBlob | undefined>
  /** A part, counted from 0; `undefined` if there is none. */
  part(upload: string, number: number): Awaitable<Uint8Array | undefined>
  /** Notes that a run that is removed uses no content any more. */
  release(run: string): Awaitable<void>
  /** Removes content that no run uses. Returns the objects that held it, which the caller removes. */
  removeUnused(filter: { readonly before: number; readonly limit: number }): Awaitable<readonly string[]>
}

/** Where content is. */
export interface StoredBlob {
  /** Its SHA-256. */
  readonly hash: string
  /** Its size. */
  readonly bytes: number
  /** The upload that it came by; names its parts. */
  readonly upload: string
  /** How many parts it has; 0 if it is in an object. */
  readonly parts: number
  /** Name of the object that holds it. */
  readonly object?: string
}

/** Content that is complete. */
export interface NewBlob extends StoredBlob {
  /** The run that uses it first. */
  readonly run: string
  /** When it is stored. */
  readonly at: number
}
