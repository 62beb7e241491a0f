import type { EventStore, StoredEvent } from '../../store.ts'
import { EventWatchers } from '../rules/event-watchers.ts'

/** Events of this process; told and not kept. */
export class MemoryEvents implements EventStore {
  readonly #watchers = new EventWatchers()
  #seq = 0

  append(event: { topic: string; body: string; at: number }): number {
    const { topic, body, at } = event
    const stored = { seq: ++this.#seq, topic, body, at }
    if (this.#watchers.size > 0) queueMicrotask(() => this.#watchers.tell(stored))
    return stored.seq
  }

  watch(listener: (event: StoredEvent) => void): () => void {
    return this.#watchers.add(listener, this.#seq)
  }

  close(): void {
    this.#watchers.clear()
  }
}
