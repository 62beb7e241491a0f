import type { Awaitable } from '../lib/index.ts'

/**
 * Calls that workers execute, from the moment they are queued until the process of their run has the result. Each is
 * executed by one worker at most, the one that claims it.
 */
export interface WorkerCallStore {
  /** Adds a call that waits for a worker. */
  add(call: NewWorkerCall): Awaitable<void>
  /**
   * Gives calls that wait to a worker. Returns the ids of those that it got: not those that somebody else has, that were
   * stopped, or whose run has moved to another process since they were added.
   */
  claim(ids: readonly string[], claim: { readonly worker: string; readonly now: number }): Awaitable<readonly string[]>
  /** Keeps the result of the worker that has the call. Returns false if it does not have the call any more. */
  finish(id: string, end: { readonly worker: string; readonly result: string }): Awaitable<boolean>
  /**
   * Stops a call: one that waits is removed and never executed, one that is executed is marked for its worker. Returns the
   * state that it had; `undefined` if it has ended or is not known.
   */
  stop(id: string): Awaitable<'queued' | 'running' | undefined>
  /** Takes a call away from a worker that is gone, so that it can finish nothing. Returns false if the call has ended. */
  abandon(id: string, worker: string): Awaitable<boolean>
  /** The states of these calls; those that are not known are left out. */
  look(ids: readonly string[]): Awaitable<readonly StoredWorkerCall[]>
  /** The calls among these that their worker should stop: they are marked, not known any more, or their run has moved. */
  stopped(ids: readonly string[], worker: string): Awaitable<readonly string[]>
  /** Those of these calls that have ended, with their results, which stay until they are removed: an answer may be lost. */
  results(ids: readonly string[]): Awaitable<readonly EndedWorkerCall[]>
  /** Removes those of these calls that have ended. */
  remove(ids: readonly string[]): Awaitable<void>
  /** How many calls wait and are executed, by queue. */
  queues(): Awaitable<readonly WorkerQueueState[]>
}

/** A call for a worker. */
export interface NewWorkerCall {
  /** Id of the call, with the number of the attempt. */
  readonly id: string
  /** The queue that it waits in: the place that its tool or rule names, such as `worker:gpu`. */
  readonly queue: string
  /** Id of its run. */
  readonly run: string
  /** Id of the process that waits for it. Default: none, so that nobody has to be alive. */
  readonly owner?: string
  /** The epoch in which that process has leased the run; absent if it has not. */
  readonly epoch?: number
  /** When it was added. */
  readonly queuedAt: number
}

/** The state of a call for a worker. */
export interface StoredWorkerCall {
  /** Id of the call, with the number of the attempt. */
  readonly id: string
  /** Whether it waits, is executed, is executed and should stop, or has ended. */
  readonly state: 'queued' | 'running' | 'stopping' | 'ended'
  /** The process that executes or executed it. */
  readonly worker?: string
}

/** A call that a worker has executed. */
export interface EndedWorkerCall {
  /** Id of the call, with the number of the attempt. */
  readonly id: string
  /** The process that executed it. */
  readonly worker: string
  /** What the worker kept, opaque for the store. */
  readonly result: string
}

/** What happens in a queue. */
export interface WorkerQueueState {
  /** The place that its calls name, such as `worker:gpu`. */
  readonly queue: string
  /** Calls that wait. */
  readonly waiting: number
  /** Calls that are executed. */
  readonly running: number
  /** When the call was added that waits longest; absent if none waits. */
  readonly oldestAt?: number
}

/** Delivers jobs to workers; on PostgreSQL by pg-boss. A job may be delivered twice, so a worker claims its call. */
export interface JobQueue {
  /** Adds a job to a queue, which is created first if necessary. Its id is a UUID. */
  send(queue: string, job: QueuedJob): Promise<void>
  /** Takes up to `max` jobs. One that is not removed within some seconds is delivered again. */
  take(queue: string, max: number): Promise<readonly QueuedJob[]>
  /** Removes jobs, taken or not. */
  remove(queue: string, ids: readonly string[]): Promise<void>
  /** The names of the queues. */
  list(): Promise<readonly string[]>
  /**
   * Whether the database user of this process can use only what workers need, not tokens, approvals and keys;
   * absent if the store has no users.
   */
  readonly hasWorkerRole?: boolean
  /** Ends the maintenance of the queues; they stay. */
  close(): Promise<void>
}

/** A job in a queue. */
export interface QueuedJob {
  /** A UUID. */
  readonly id: string
  /** What it is about, opaque for the queue. */
  readonly body: string
}
