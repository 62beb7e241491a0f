import { type Clock, lazyModule, messageOf, type Store, ToolError } from '../core/index.ts'
import { Later } from '../lib/index.ts'
import {
  loadSharedRecords,
  type SharedRecordAccess,
  type SharedRecords,
  type SharedRecordsOptions,
  type ShippingState,
} from '../records/shipping/index.ts'
import type { ClusterMember } from './cluster.ts'
import type { Call } from './pipeline/call.ts'
import { mayHaveHappened } from './pipeline/settle.ts'
import type { HubRuntime } from './runtime.ts'
import type { RemoteCalls } from './worker/remote-calls.ts'

const WARN_EVERY_MS = 60_000
const MAX_WARNINGS = 100
const NOTHING_SHARED: ShippingState = Object.freeze({ segments: 0, waitingBytes: 0, lagMs: 0 })

/** Stops calls whose run was taken by another process, and those with side effects while others may take their run. */
export function stopCalls(cluster: ClusterMember, { underWay, runs }: HubRuntime): void {
  cluster.onCut(() => {
    for (const call of underWay)
      if (call.executedMark !== undefined && call.tool?.hasEffects) call.abort(stopped(call, cluster.cutOff()))
  })
  cluster.onMoved((run) => {
    const calls = [...underWay].filter((call) => call.run === run)
    for (const call of calls) call.abort(stopped(call, cluster.moved(run)))
    runs.abandon(run, Promise.all(calls.map((call) => call.whenEnded())))
  })
  // Others must know this process before they see what it owns.
  cluster.beat().catch(({ message }: Error) => {
    process.emitWarning(`The shared store cannot be reached yet: ${message}`, 'ToolHubWarning')
  })
}

/** Why a call was stopped. Nobody knows what one that executes has changed. */
function stopped(call: Call, { code, message }: ToolError): ToolError {
  if (call.executedMark === undefined || !call.tool?.hasEffects) return new ToolError(code, message)
  return mayHaveHappened(call, code, `${message} ${call.name} was stopped; its effect is unknown.`)
}

/** The records that the processes of a cluster share, as a hub has them. */
export interface HubSharing extends SharedRecordAccess {
  readonly records: Later<SharedRecords>
  /** How far this process is with sharing its records. */
  state(): ShippingState
}

/** Shares the records of a hub with other machines. */
export function shareRecords(options: SharedRecordsOptions): HubSharing {
  const records = new Later(async () => {
    const { SharedRecords: Records } = await loadSharedRecords()
    return new Records({ ...options, onProblem: warnOnce() })
  })
  // Old content is removed from now on. If the code cannot be loaded now, the first run tries again.
  records.get().catch(() => {})
  const { bucket, store } = options
  const readObject = async (name: string) => (await records.get()).source.readObject!(name)
  return {
    records,
    source: { segments: store.segments, ...(bucket && { readObject }) },
    remove: async (run) => (await records.get()).remove(run),
    state: () => records.made?.state() ?? NOTHING_SHARED,
  }
}

/** Warns when the store or the bucket begins to refuse, each problem once a minute at most. */
function warnOnce(): (error: unknown) => void {
  const warnedAt = new Map<string, number>()
  return (error) => {
    const message = messageOf(error)
    const now = performance.now()
    if (now - (warnedAt.get(message) ?? Number.NEGATIVE_INFINITY) < WARN_EVERY_MS) return
    if (warnedAt.size > MAX_WARNINGS) warnedAt.clear()
    warnedAt.set(message, now)
    process.emitWarning(message, { type: 'ToolHubWarning', code: 'RECORDS_UNAVAILABLE' })
  }
}

const loadRemoteCalls = lazyModule(() => import('./worker/remote-calls.ts'))

/** What executes calls on workers, loaded for the first one; `undefined` if the store cannot deliver any. */
export function remoteCalls(options: {
  readonly store: Store
  readonly clock: Clock
  readonly member: ClusterMember
}): Later<RemoteCalls> | undefined {
  const { openQueue: open } = options.store
  if (!open) return undefined
  return new Later(async () => {
    const { RemoteCalls: Calls } = await loadRemoteCalls()
    return new Calls({ ...options, open })
  })
}
