import type { Awaitable } from '@tool-hub/core'
import type { ClusterState } from '@tool-hub/core/protocol'

/** The processes that share the store of a service: only this one, unless the owner lets others use it, too. */
export interface ProcessGroup {
  /** Whether other processes may use the store at the same time. */
  readonly hasOthers: boolean
  /** Whether this process has not reached the store for so long that it starts nothing. */
  readonly isCutOff: boolean
  /** Whether the store refuses the records of calls. */
  readonly refusesRecords: boolean
  /** The runs that other processes have. */
  runsOfOthers(): Awaitable<readonly string[]>
  /** Takes background work for a while; returns `false` if another process has taken it. */
  takeTurn(work: string, forMs: number): Awaitable<boolean>
  /** Lets the others compare their rules with those of this process, by a hash. */
  publishRules(hash: string): void
  /** The processes, their leases and queues; empty lists if this process is alone. */
  state(): Promise<ClusterState>
}
