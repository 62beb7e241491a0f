import type { Awaitable } from '../lib/index.ts'

// What the processes that share a store exchange: events, documents and jobs.

/** Events between processes: an approval was requested or answered, a policy was saved. */
export interface EventStore {
  /** Notifies all processes; returns the number of the event. */
  append(event: { topic: string; body: string; at: number }): Awaitable<number>
  /**
   * Calls the listener with every later event of all processes, each once and in order. Returns a function that stops
   * it.
   */
  watch(listener: (event: StoredEvent) => void): () => void
}

export interface StoredEvent {
  /** Counts up over all processes. */
  readonly seq: number
  /** The subject of the event, such as `ask`. */
  readonly topic: string
  /** JSON. */
  readonly body: string
  /** When it was appended. */
  readonly at: number
}

/** Calls the listener with the body of every later event of a topic. Returns a function that stops it. */
export function watchTopic(
  events: Pick<EventStore, 'watch'>,
  watched: string,
  listener: (body: string) => void,
): () => void {
  return events.watch(({ topic, body }) => {
    if (topic === watched) listener(body)
  })
}

/** Small documents by name. Several processes change them: a write names the revision that it replaces. */
export interface DocumentStore {
  /** The document of this name; `undefined` if there is none. Its body is left out if its revision is `known`. */
  read(name: string, known?: number): Awaitable<StoredDocument | undefined>
  /**
   * Replaces the document if it still has this revision; 0 adds a document that is not there. Returns false, and changes
   * nothing, if another process was faster: read it again. Rejects with `FILE_TOO_LARGE` over 4 million characters.
   */
  write(name: string, body: string, revision: number): Awaitable<boolean>
}

/** A document as it was read. */
export interface StoredDocument {
  /** Counts its writes, from 1. */
  readonly revision: number
  /** Its content; absent if the reader knows this revision. */
  readonly body?: string
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
