import {
  type Awaitable,
  type Clock,
  type FeatureServices,
  type HeldRun,
  type HubOptions,
  labelsOfCall,
  PLACE_KEY,
  PLACE_KEYS,
  placeOfLabels,
  type Store,
  type StoredRun,
  ToolError,
} from '@tool-hub/core'
import type { RecordSource, RunRecordsOptions, SharedFiles } from '../records/log/index.ts'
import type { FileLabel } from '../store/index.ts'
import type { DecidedCall } from './pipeline/call.ts'
import type { CallPlace } from './pipeline/call-parts.ts'
import type { RunOwner } from './run-state.ts'
import type { TaintPlace } from './run-taint.ts'
import type { HubRuntime, RunState, Runtime } from './runtime.ts'

// What a hub asks when several processes may have the same runs. A hub whose store nobody shares has `ONE_MACHINE`.

/** Who may execute the calls of a run. */
export interface RunOwnership {
  /** Id of this process among those that share the store; `undefined` if no other uses it. */
  readonly process: string | undefined
  /**
   * Takes a run before it is opened; `undefined` if every run is this process's. Rejects with NOT_FOUND if the run is of
   * another principal, with RUN_ELSEWHERE if another process has it.
   */
  open(run: string, owner: RunOwner | undefined): Promise<OwnedRun> | undefined
  /** What is known of a run that may be on another machine. */
  find(run: string): Awaitable<StoredRun | undefined>
  /** The runs whose process has ended without closing them: this one may. */
  orphans(): Awaitable<readonly string[]>
  /** Calls the listener when calls must stop, because others have their run or may take it. */
  onLost(listener: (loss: Loss) => void): void
}

/** By what this process has a run that it has open; empty if no other process could have it. */
export interface RunHold {
  /** What the store compares before it keeps the result of a call. */
  readonly held?: HeldRun
  /** Set if another process has the run, and this one executes a call of it: only that process can ask and call others. */
  readonly guest?: {
    /** Called with what is labelled here, for the process of the run. */
    onLabel(labels: readonly FileLabel[]): void
  }
  /** Throws if another process may have the run by now. */
  assertHeld?(): void
  /** The same before a side effect, and asks the store. `isAsked`: the store will be asked with the record of the intent. */
  confirm?(isAsked: boolean): Promise<void> | undefined
}

/** A run that this process has taken from the store, to open it. */
export interface OwnedRun {
  readonly hold: RunHold
  /** Its principal and taint. */
  readonly state: StoredRun
  /** Keeps what has tainted the run, for other machines. */
  readonly taint: TaintPlace
  readonly records: Partial<RunRecordsOptions>
  /** Called if the run could not be opened. Never rejects. */
  giveUp(): Promise<void>
  /** Called when its record is closed and shared: the run may move. Never rejects. */
  release(): Promise<void>
}

/** What others have of the runs that this process removes. */
export interface RunRetention {
  /** The runs whose records others have, which may be longer than those on the disk. */
  recorded(): Awaitable<ReadonlySet<string>>
  /**
   * Takes a run, so that nobody else can open it until it is removed; `undefined` if every run is this process's. Rejects
   * with CONFLICT if another process has it open or has continued it.
   */
  take(run: string): Promise<RunRemoval> | undefined
}

/** A run that is removed. */
export interface RunRemoval {
  /** Called if it is not removed after all. */
  cancel(): Promise<void>
  /** Removes what others have of it. */
  finish(): Promise<void>
}

/** Why calls must stop. */
export interface Loss {
  /** The run that another process has; `undefined` for all runs, whose calls with side effects must stop. */
  readonly run?: string
  readonly error: ToolError
}

/** Where records and artifacts go besides the disk, and where they are read from. */
export interface RecordSink {
  /** Whether what a run has recorded may be on another machine only. */
  readonly hasOthers: boolean
  /** The files of runs on other machines; `undefined` if there are none. */
  files(): Awaitable<SharedFiles | undefined>
  /** Where the record of a run is read from, if others have more of it than the disk. */
  source(run: string): Awaitable<RecordSource | undefined>
}

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
