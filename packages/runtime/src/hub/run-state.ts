import type { Clock, RecentCall, RunCache, SandboxLevel, SeenFiles } from '@tool-hub/core'
import type { ValueEvidence } from '@tool-hub/policy'
import type { ProcessGuard } from '@tool-hub/sandbox/exec'
import type { FilesGuard } from '@tool-hub/sandbox/files'
import { createResponseCache, type NetworkGuard, type ResponseCache } from '@tool-hub/sandbox/network'
import type { RunRecords } from '../records/log/index.ts'
import { createRunCache, createSeenFiles } from '../store/index.ts'
import type { Call } from './pipeline/call.ts'
import type { RunMoment } from './run-index/run-moments.ts'
import type { RunHold } from './run-ownership.ts'
import type { KeptTaint } from './run-taint.ts'

/** What calls write to the record of their run. On a worker, the process of the run records it with the end of the call. */
export type RunLog = Pick<RunRecords, 'append' | 'putArtifact' | 'synced' | 'written' | 'ended' | 'problem' | 'isNew'> &
  Partial<Pick<RunRecords, 'retrySync' | 'folder' | 'openArtifact' | 'fetchArtifact' | 'kept'>>

/** The state of an open run. */
export interface RunState {
  readonly id: string
  readonly records: RunLog | undefined
  readonly cache: RunCache
  /** Set by the first call whose start may have to be recorded before its end. */
  starts?: PendingStarts | undefined
  readonly sandbox: SandboxHandles
  /** The files that the run has read completely, by hash. */
  readonly seen: SeenFiles
  /** Cached network responses that are still fresh. */
  readonly responses: ResponseCache
  /** By what this process has it. */
  readonly hold: RunHold
  /** Whether the run has read content from outside. */
  readonly tainted: boolean
  /** What it has read from outside, for people: `mcp:mail/get_unread`, `https://example.org`, a path, `caller`. */
  readonly taintedBy: readonly string[]
  /** Taints the run; without a call id, only adds the source to those of a run that other calls have tainted. */
  taint(callId: string | undefined, source: string): void
  /** Whether its artifacts may hold content from outside: the run is tainted, or was before its taint was cleared. */
  readonly hasOutsideArtifacts: boolean
  /** The ids of the commands that continued in the background since the taint was last cleared. */
  readonly backgroundCommands: Set<string>
  /** The ids of those before: reading their output taints the run again. */
  readonly earlierCommands: ReadonlySet<string>
  /** Calls the listener when the run becomes tainted. Returns a function that removes it. */
  onTaint(listener: () => void): () => void
  /** The owner and the taint of the run for later processes; `undefined` if the hub keeps no records. */
  readonly keptTaint: Pick<KeptTaint, 'isDurable' | 'synced' | 'keepIn'> | undefined
  /** Returns whether a call other than this one has tainted the run. */
  taintedBeside(callId: string): boolean
  /** What is known about where values come from; `undefined` until the first call of this process. */
  evidence?: ValueEvidence | undefined
  /** Set if a recorded call is decided again: what the run knew when the call was made. */
  readonly past?: RunMoment
  /** The last calls, oldest first, for approvers. Kept in memory only. */
  readonly recent: RecentCall[]
  /** The number of calls in progress. A run without any may be closed. */
  inFlight: number
}

/** Calls that have not settled yet, and whose start is not on record. */
export interface PendingStarts {
  readonly waiting: Map<Call, unknown>
  add(call: Call, record: (call: Call) => void): void
}

/** The guards of a run, which resolve the targets that a tool names to real paths, URLs and commands. */
export interface SandboxHandles {
  files(): FilesGuard
  /** The artifacts of the run, each a file named after its hash; `undefined` if the hub keeps no records. */
  artifacts(): FilesGuard | undefined
  network(): NetworkGuard
  process(): ProcessGuard
  /** The isolation level of commands on this machine; does not need a root. */
  sandboxLevel(): Promise<SandboxLevel>
}

const RESPONSE_BYTES = 8_000_000
const CACHE_LIMITS = { maxEntries: 1_000, maxBytes: 16_000_000, maxValueBytes: 1_000_000 }

/** What every run keeps in memory: caches, the last calls, and whether it is tainted in this process. */
export class RunMemory {
  readonly cache: ReturnType<typeof createRunCache>
  starts: PendingStarts | undefined
  readonly seen: SeenFiles = createSeenFiles()
  readonly recent: RecentCall[] = []
  readonly responses: ResponseCache
  readonly backgroundCommands = new Set<string>()
  readonly earlierCommands = new Set<string>()
  evidence: ValueEvidence | undefined
  inFlight = 0
  /** Set by `markTainted`. */
  tainted = false
  /** The id of the first call that tainted the run in this process. */
  #taintedBy: string | undefined
  #isTaintedByMany = false
  readonly #taintListeners = new Set<() => void>()

  constructor(clock: Clock) {
    this.cache = createRunCache({ ...CACHE_LIMITS, clock })
    this.responses = createResponseCache({ maxBytes: RESPONSE_BYTES, clock })
  }

  onTaint(listener: () => void): () => void {
    this.#taintListeners.add(listener)
    return () => this.#taintListeners.delete(listener)
  }

  taintedBeside(callId: string): boolean {
    return this.tainted && (this.#isTaintedByMany || this.#taintedBy !== callId)
  }

  /** Notes which call has tainted the run. Returns whether it was not tainted before: then call `emitTaint`. */
  protected markTainted(callId: string | undefined): boolean {
    this.#taintedBy ??= callId
    if (callId !== undefined && callId !== this.#taintedBy) this.#isTaintedByMany = true
    const isNew = !this.tainted
    this.tainted = true
    return isNew
  }

  protected emitTaint(): void {
    for (const listener of [...this.#taintListeners]) listener()
  }

  /** What was kept in the run while it was tainted is dropped, or taints the run again when it is read. */
  protected untaint(): void {
    this.tainted = false
    this.#taintedBy = undefined
    this.#isTaintedByMany = false
    this.cache.clear()
    for (const id of this.backgroundCommands) this.earlierCommands.add(id)
    this.backgroundCommands.clear()
  }
}
