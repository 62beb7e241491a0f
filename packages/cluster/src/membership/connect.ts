import { join } from 'node:path'
import { type FeatureServices, lazyModule, messageOf, ToolError } from '@tool-hub/core'
import { Later } from '@tool-hub/core/lib'
import {
  type CallExecutor,
  type CallPlace,
  type ConnectMachines,
  type ExecuteOptions,
  type HubRuntime,
  type MachineOptions,
  ONE_MACHINE,
  type RecordSink,
  type RunState,
  type Runtime,
  reachablePlace,
} from '@tool-hub/runtime/hub'
import type { DecidedCall } from '@tool-hub/runtime/hub/pipeline'
import {
  bucketAddress,
  loadSharedCheck,
  loadSharedLines,
  loadSharedRecords,
  type SharedCheck,
  type SharedRecordAccess,
  type SharedRecords,
  type SharedRecordsOptions,
  type ShippingState,
} from '../records/index.ts'
import type { RemoteCalls } from '../workers/remote-calls.ts'
import type { RunningWorker, WorkerOptions, WorkerStates } from '../workers/worker-options.ts'
import { ClusterMember } from './cluster-member.ts'
import { createOwnership, createRetention } from './ownership.ts'

const loadRemoteCalls = lazyModule(() => import('../workers/remote-calls.ts'))
const loadWorker = lazyModule(() => import('../workers/worker.ts'))

/** The records that all processes share, to be read and verified. */
export interface SharedHistory extends Pick<RecordSink, 'source'> {
  /** Opens a check of all of them. */
  openCheck(): Promise<SharedCheck>
}

declare module '@tool-hub/core/feature' {
  interface FeatureServices {
    /** This process among those that share the store; `undefined` if its store is not shared with other machines. */
    readonly cluster: ClusterMember | undefined
    /** How far this process is with sharing its records; `undefined` if its store is not shared with other machines. */
    readonly sharing: ShippingState | undefined
    /** The records that all processes share; `undefined` if the store is not shared, or there are no records. */
    readonly sharedRecords: SharedHistory | undefined
    /**
     * Executes calls of other processes that share the store, until it is drained or the hub closes. Rejects with
     * CONFIG_INVALID if the store is not shared.
     */
    work(options?: WorkerOptions): Promise<RunningWorker>
    /** Returns the queues of calls for workers, and the workers; both are empty if the store is not shared. */
    workers(): Promise<WorkerStates>
  }
}

/** Connects a hub with the processes on other machines, if its store is one that they share. */
export const connectMachines: ConnectMachines = (options) => {
  const { store, clock, runsFolder, records: { bucket } = {} } = options
  if (store.location !== 'network') return { ...ONE_MACHINE, start: (runtime) => servicesOf(runtime, {}) }
  // Throws for what cannot be the address of a bucket.
  if (bucket) bucketAddress(bucket.url)
  const member = new ClusterMember(options)
  const onMoved = (run: string) => member.lose(run)
  const shared = runsFolder === false ? undefined : shareRecords({ store, clock, bucket, onMoved })
  const workers = new Workers(options, member)
  const owned = { member, store, runsFolder, shared }
  return {
    ownership: createOwnership(owned),
    retention: createRetention(owned),
    records: shared && runsFolder !== false ? createSink(shared, member, runsFolder) : ONE_MACHINE.records,
    executor: workers,
    start(runtime) {
      // Others must know this process before they see what it owns.
      member.beat().catch(({ message }: Error) => {
        process.emitWarning(`The shared store cannot be reached yet: ${message}`, 'ToolHubWarning')
      })
      return servicesOf(runtime, { member, shared, workers })
    },
    async close() {
      workers.close()
      await (shared?.records.close((records) => records.close()) ?? Promise.resolve()).finally(() => member.close())
    },
  }
}

const WARN_EVERY_MS = 60_000
const MAX_WARNINGS = 100
const NOTHING_SHARED: ShippingState = Object.freeze({ segments: 0, waitingBytes: 0, lagMs: 0, isRefused: false })

/** What the hub of this process offers because its store is shared. */
interface Membership {
  readonly member?: ClusterMember
  readonly shared?: HubSharing | undefined
  readonly workers?: Workers
}

function servicesOf(runtime: HubRuntime, { member, shared, workers }: Membership): OwnServices {
  return {
    cluster: member,
    get sharing() {
      return shared?.state()
    },
    sharedRecords: shared && {
      source: (run) => runtime.machines.records.source(run),
      async openCheck() {
        const { openSharedCheck } = await loadSharedCheck()
        return openSharedCheck(runtime.store, shared)
      },
    },
    async work(options = {}) {
      if (workers) return workers.work(runtime, options)
      const { startWorking } = await loadWorker()
      return startWorking(runtime, undefined, options)
    },
    async workers() {
      const { store } = runtime
      if (!member) return { queues: [], workers: [] }
      const [queues, processes] = await Promise.all([store.workerCalls.queues(), store.processes.list()])
      return { queues, workers: processes.filter(({ kind }) => kind === 'worker') }
    },
  }
}

type OwnServices = Pick<FeatureServices, 'cluster' | 'sharing' | 'sharedRecords' | 'work' | 'workers'>

/** Executes calls on workers, and as a worker those of others. */
class Workers implements CallExecutor {
  readonly #member: ClusterMember
  /** Loaded for the first call; `undefined` if the store cannot deliver any. */
  readonly #remote: Later<RemoteCalls> | undefined
  #worker: RunningWorker | undefined

  constructor({ store, clock }: MachineOptions, member: ClusterMember) {
    const { openQueue: open } = store
    this.#member = member
    this.#remote =
      open &&
      new Later(async () => {
        const { RemoteCalls: Calls } = await loadRemoteCalls()
        return new Calls({ store, clock, member, open })
      })
  }

  placeOf(call: DecidedCall): CallPlace | undefined {
    return reachablePlace(call, { hasWorkers: this.#remote !== undefined })
  }

  async execute(runtime: Runtime, run: RunState, call: DecidedCall, options: ExecuteOptions): Promise<unknown> {
    // A call without workers was refused before it was recorded.
    const remote = await this.#remote!.get()
    return remote.execute(runtime, run, call, options)
  }

  async work(runtime: HubRuntime, options: WorkerOptions): Promise<RunningWorker> {
    if (this.#worker) throw new ToolError('CONFLICT', 'This hub is a worker already.')
    const { startWorking } = await loadWorker()
    this.#worker = await startWorking(runtime, this.#member, options)
    return this.#worker
  }

  async drain({ abort }: { readonly abort: boolean }): Promise<void> {
    await (abort ? this.#worker?.stop() : this.#worker?.drain())
  }

  close(): void {
    this.#remote?.made?.close()
  }
}

/** Records and artifacts in the store and the bucket. */
function createSink(shared: HubSharing, member: ClusterMember, runsFolder: string): RecordSink {
  const { source } = shared
  return {
    hasOthers: true,
    files: async () => (await shared.records.get()).content,
    async source(run) {
      if (member.leaseOf(run)) return undefined
      const { isAhead, sharedRecord } = await loadSharedLines()
      return (await isAhead(source, run, join(runsFolder, run))) ? sharedRecord(source, run) : undefined
    },
  }
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
