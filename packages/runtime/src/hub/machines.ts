import {
  type Clock,
  type FeatureServices,
  type HubOptions,
  labelsOfCall,
  PLACE_KEY,
  PLACE_KEYS,
  placeOfLabels,
  type Store,
  ToolError,
} from '@tool-hub/core'
import type { DecidedCall } from './pipeline/call.ts'
import type { CallPlace } from './pipeline/call-parts.ts'
import type { RecordSink, RunOwnership, RunRetention } from './run-ownership.ts'
import type { RunState } from './run-state.ts'
import type { HubRuntime, Runtime } from './runtime.ts'

/** Who executes a decided call. */
export interface CallExecutor {
  /**
   * Where a call is executed instead of here; `undefined` if here. Throws if nobody at its place can execute it: it never is
   * executed here instead.
   */
  placeOf(call: DecidedCall): CallPlace | undefined
  /** Executes a call there. Rejects with the error of the tool, NO_WORKER or WORKER_LOST. */
  execute(runtime: Runtime, run: RunState, call: DecidedCall, options: ExecuteOptions): Promise<unknown>
  /** Executes no more calls of other processes; with `abort`, stops those under way. */
  drain(options: { readonly abort: boolean }): Promise<void>
}

/** How a call is executed at another place. */
export interface ExecuteOptions {
  readonly place: CallPlace
  readonly timeLeftMs: number
}

/** What a hub knows of other machines. */
export interface Machines {
  readonly ownership: RunOwnership
  readonly records: RecordSink
  readonly executor: CallExecutor
  readonly retention: RunRetention
  /** Called when the hub is created. Returns further services for its owner, such as `hub.work()`. */
  start?(runtime: HubRuntime): Partial<FeatureServices>
  /** Called when the runs of the hub are closed. */
  close(): Promise<void>
}

/** What connects a hub with the other processes that share its store. */
export type ConnectMachines = (options: MachineOptions) => Machines

/** The hub that is connected. */
export interface MachineOptions {
  readonly store: Store
  readonly clock: Clock
  /** Folder of the records; `false` if there are none. */
  readonly runsFolder: string | false
  readonly records: HubOptions['records']
  /** How many calls the hub executes now. */
  readonly running: () => number
}

/** A hub whose store no other machine uses: it has every run, its records are on its disk, and it executes every call. */
export const ONE_MACHINE: Machines = {
  ownership: {
    process: undefined,
    open: () => undefined,
    find: () => undefined,
    orphans: () => [],
    onLost() {},
  },
  records: { hasOthers: false, files: () => undefined, source: () => undefined },
  retention: { recorded: () => new Set(), take: () => undefined },
  executor: {
    placeOf: (call) => reachablePlace(call, { hasWorkers: false }),
    execute: () => Promise.reject(new Error('Calls are executed here only.')),
    async drain() {},
  },
  async close() {},
}

/** The workers that the rule and the tool of a call name, if they do. Throws if none can execute the call. */
export function reachablePlace(
  { call: { name }, tool, decision }: DecidedCall,
  { hasWorkers }: { readonly hasWorkers: boolean },
): CallPlace | undefined {
  // Most calls name no workers.
  if (tool.where === undefined && !(PLACE_KEY in decision.constraints)) return undefined
  const labels = labelsOfCall(decision.constraints, tool.where)
  if (!labels) return undefined
  const place = placeOfLabels(labels)
  if (!hasWorkers)
    throw new ToolError('NO_WORKER', `${name} belongs on ${place}, and this hub has no workers.`, {
      retryable: false,
      fix: {
        key: 'store',
        hint: `Set store to a PostgreSQL URL and start tool-hub worker, or remove ${PLACE_KEYS}.`,
      },
    })
  if (!tool.usesFeature) return { name: place }
  throw new ToolError('CONFIG_INVALID', `${name} uses a feature of the hub, so no worker can execute it.`, {
    hint: `Remove ${PLACE_KEYS}.`,
  })
}
