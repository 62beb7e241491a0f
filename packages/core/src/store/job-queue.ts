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
