import type { Awaitable, EventStore, StoredEvent } from '@tool-hub/core'
import {
  column,
  type Driver,
  defineTable,
  type Entity,
  nextNumber,
  one,
  perform,
  run,
  transaction,
  type Work,
} from '@tool-hub/core/sql'

/** How long processes can read an event. */
export const EVENT_AGE_MS = 3_600_000

/** Where repositories write events of their changes. */
export interface EventLog {
  /** Appends an event in the transaction of the caller. */
  write(event: { readonly topic: string; readonly body: string; readonly at: number }): Work<number>
  /** Notifies the watchers of all processes, once the transaction is committed. */
  announce(event: StoredEvent): void
}

/** The events of a database. */
export interface DatabaseEvents extends EventStore, EventLog {
  close(): void
}

/** Numbers that are never given twice: new events must not get the numbers of those that were swept. */
export const COUNTERS = defineTable('counters', 6, { name: column.text({ key: true }), value: column.bigint() })
export const EVENTS = defineTable(
  'events',
  6,
  {
    seq: column.bigint({ key: true }),
    topic: column.text(),
    body: column.text(),
    at: column.bigint({ name: 'created_at' }),
  },
  { indexes: { age: ['at'] } },
) satisfies Entity<StoredEvent>
const LAST = `SELECT value FROM counters WHERE name = 'events'`
const AFTER = `WHERE seq > ? ORDER BY seq LIMIT ?`
const MAX_READ = 500

/** How long to wait before the number of the last event is read again, after that has failed. */
const RETRY_MS = 1_000

/** The events of a database: those of this process are emitted immediately, those of others when the driver reports a change. */
export function createEvents(driver: Driver): DatabaseEvents {
  const watchers = new EventWatchers()
  let emitted = 0
  let stopListening: (() => void) | undefined
  let isAnnounced = false
  /** The first watcher waits for the number of the last event; `own` is the first of ours since it began. */
  let beginning: { own: number } | undefined

  function* write({ topic, body, at }: { topic: string; body: string; at: number }): Work<number> {
    const seq = yield* nextNumber('events')
    yield* run(EVENTS.insert, ...EVENTS.values({ seq, topic, body, at }))
    return seq
  }
  function* emitNew(): Work<void> {
    for (;;) {
      const events = yield* EVENTS.list(AFTER, emitted, MAX_READ)
      for (const event of events) {
        // Another reading may have been faster, if the driver answers with promises.
        if (event.seq <= emitted) continue
        emitted = event.seq
        watchers.emit(event)
      }
      if (events.length < MAX_READ) return
    }
  }
  const readNew = () => {
    if (watchers.size > 0) quietly(() => perform(driver, emitNew()))
  }
  const announce = (event: StoredEvent) => {
    driver.notify?.()
    if (watchers.size === 0) return
    if (driver.dialect !== 'sqlite') return emitOwn(event)
    // The caller of a method that answers synchronously gets its answer first.
    if (isAnnounced) return
    isAnnounced = true
    queueMicrotask(() => {
      isAnnounced = false
      readNew()
    })
  }
  /** An event of this process need not be read, unless others have written events before it. */
  const emitOwn = (event: StoredEvent) => {
    if (beginning) {
      beginning.own = Math.min(beginning.own, event.seq)
    } else if (event.seq === emitted + 1) {
      emitted = event.seq
      watchers.emit(event)
    } else if (event.seq > emitted) {
      readNew()
    }
  }
  const begin = (last: number) => {
    emitted = last
    watchers.begin(last)
    stopListening ??= driver.listen(() => perform(driver, emitNew()))
  }
  const beginLater = (reading: Promise<{ readonly value: number }>, begun = { own: Number.POSITIVE_INFINITY }) => {
    beginning = begun
    reading.then(
      ({ value }) => {
        if (beginning !== begun) return
        beginning = undefined
        begin(Math.min(value, begun.own - 1))
        if (begun.own <= value) readNew()
      },
      () => {
        const again = () => {
          if (beginning === begun) beginLater(readLast() as Promise<{ readonly value: number }>, begun)
        }
        setTimeout(again, RETRY_MS).unref()
      },
    )
  }
  const readLast = () => perform(driver, one<{ readonly value: number }>(LAST))
  const stop = () => {
    beginning = undefined
    stopListening?.()
    stopListening = undefined
  }
  return {
    write,
    announce,
    append(event) {
      const seq = perform(
        driver,
        transaction(() => write(event), []),
      )
      if (seq instanceof Promise)
        void seq.then(
          (number) => announce({ seq: number, ...event }),
          () => {},
        )
      else announce({ seq, ...event })
      return seq
    },
    watch(listener) {
      const watcher = watchers.add(listener)
      const stopWatching = () => {
        watchers.remove(watcher)
        if (watchers.size === 0) stop()
      }
      // Of events that others wrote a moment ago it may get those that have not been read yet.
      if (stopListening && driver.dialect !== 'sqlite') watcher.after = emitted
      if (beginning || watcher.after === emitted) return stopWatching
      try {
        const last = readLast()
        if (last instanceof Promise) beginLater(last)
        else if (stopListening) watcher.after = last.value
        else begin(last.value)
      } catch (error) {
        stopWatching()
        throw error
      }
      return stopWatching
    },
    close() {
      watchers.clear()
      stop()
    },
  }
}

interface Watcher {
  readonly listener: (event: StoredEvent) => void
  /** The number of the last event before it began to watch. */
  after: number
}

/** The watchers of this process, each of which gets the events since it began. */
export class EventWatchers {
  readonly #watchers = new Set<Watcher>()

  get size(): number {
    return this.#watchers.size
  }

  add(listener: Watcher['listener'], after = Number.POSITIVE_INFINITY): Watcher {
    const watcher = { listener, after }
    this.#watchers.add(watcher)
    return watcher
  }

  remove(watcher: Watcher): void {
    this.#watchers.delete(watcher)
  }

  /** Lets those who have just been added get the events after this one. */
  begin(after: number): void {
    for (const watcher of this.#watchers) watcher.after = Math.min(watcher.after, after)
  }

  emit(event: StoredEvent): void {
    for (const { listener, after } of this.#watchers) {
      if (event.seq <= after) continue
      try {
        listener(event)
      } catch {
        // A listener that fails must not keep the event from the others.
      }
    }
  }

  clear(): void {
    this.#watchers.clear()
  }
}

/** Events that cannot be read now are read after the next change; callers of methods get the error of the store. */
function quietly(read: () => Awaitable<void>): void {
  try {
    const reading = read()
    if (reading instanceof Promise) reading.catch(() => {})
  } catch {
    // As above.
  }
}
