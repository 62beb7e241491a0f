import type { Awaitable, HeldRun, StoredRun, ToolError } from '@tool-hub/core'
import type { RecordSource, RunRecordsOptions, SharedFiles } from '../records/log/index.ts'
import type { FileLabel } from '../store/index.ts'
import type { RunSandbox } from './run-sandbox.ts'
import type { TaintPlace } from './run-taint.ts'

// Who has a run, and where its record is, when several processes may have the same runs.

/** The owner of a run, and the sandbox that the run uses. */
export interface RunOwner {
  readonly principal: string
  /** The sandbox of a principal with its own folders. Default: that of the hub. */
  readonly sandbox?: RunSandbox
}

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

/** Every run is this process's: nothing is asked before a call or after it. */
export const OWN_RUN: RunHold = {}
