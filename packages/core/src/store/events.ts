import type { Awaitable } from '../lib/index.ts'

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
