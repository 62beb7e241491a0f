import type { StoredEvent } from '../../store.ts'

type Listener = (event: StoredEvent) => void

/** Those who hear events, each from its own beginning on. */
export class EventWatchers {
  readonly #watchers = new Set<{ readonly listener: Listener; readonly after: number }>()

  get size(): number {
    return this.#watchers.size
  }

  /** Adds one who hears what comes after this number; returns how to stop. */
  add(listener: Listener, after: number): () => void {
    const watcher = { listener, after }
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  tell(event: StoredEvent): void {
    for (const { listener, after } of this.#watchers) {
      if (event.seq <= after) continue
      try {
        listener(event)
      } catch {
        // One who cannot listen must not keep the others from hearing.
      }
    }
  }

  clear(): void {
    this.#watchers.clear()
  }
}
