import type { EventStore, StoredEvent } from '../../store.ts'
import { EventWatchers } from '../rules/event-watchers.ts'
import type { Connection } from './connection.ts'
import { DATA_VERSION } from './open-database.ts'

interface EventRow {
  readonly seq: number
  readonly topic: string
  readonly body: string
  readonly created_at: number
}

/** Events in the file. */
export interface FileEvents extends EventStore {
  /** Appends within a transaction of the caller's; `announce` tells it once that is kept. */
  write(event: { readonly topic: string; readonly body: string; readonly at: number }): number
  announce(): void
  close(): void
}

const MOST_AT_ONCE = 500

/** Events in the file: own ones are heard at once, those of other processes as soon as a look finds that they wrote. */
export function createEvents(connection: Connection, pollMs: number): FileEvents {
  const next = connection.statement<{ value: number }>(
    `UPDATE counters SET value = value + 1 WHERE name = 'events' RETURNING value`,
  )
  const last = connection.statement<{ value: number }>(`SELECT value FROM counters WHERE name = 'events'`)
  const insert = connection.statement('INSERT INTO events (seq, topic, body, created_at) VALUES (?, ?, ?, ?)')
  const after = connection.statement<EventRow>(
    'SELECT seq, topic, body, created_at FROM events WHERE seq > ? ORDER BY seq LIMIT ?',
  )
  const dataVersion = connection.statement<{ data_version: number }>(DATA_VERSION)
  const watchers = new EventWatchers()
  let told = 0
  let timer: NodeJS.Timeout | undefined
  let seenVersion: number | undefined
  let isAnnounced = false

  const tellNew = () => {
    for (;;) {
      const rows = after.all(told, MOST_AT_ONCE)
      for (const row of rows) {
        told = row.seq
        watchers.tell(toEvent(row))
      }
      if (rows.length < MOST_AT_ONCE) return
    }
  }
  const look = () => {
    try {
      const version = dataVersion.get()?.data_version
      if (version === seenVersion) return
      tellNew()
      seenVersion = version
    } catch {
      // Locked or gone for a moment: the next look finds it. Who uses the store is told what is wrong with it.
    }
  }
  const stop = () => {
    clearInterval(timer)
    timer = undefined
  }
  const write: FileEvents['write'] = ({ topic, body, at }) => {
    const { value } = next.get()!
    insert.run(value, topic, body, at)
    return value
  }
  const announce = () => {
    if (isAnnounced || watchers.size === 0) return
    isAnnounced = true
    queueMicrotask(() => {
      isAnnounced = false
      if (watchers.size > 0) readQuietly(tellNew)
    })
  }
  return {
    write,
    announce,
    append(event) {
      const seq = connection.transaction(() => write(event))
      announce()
      return seq
    },
    watch(listener) {
      const { value } = last.get()!
      if (watchers.size === 0) {
        told = value
        seenVersion = undefined
        timer = setInterval(look, pollMs).unref()
      }
      const remove = watchers.add(listener, value)
      return () => {
        remove()
        if (watchers.size === 0) stop()
      }
    },
    close() {
      watchers.clear()
      stop()
    },
  }
}

/** What could not be read now is told by the next look. */
function readQuietly(read: () => void): void {
  try {
    read()
  } catch {
    // As in a look.
  }
}

function toEvent({ seq, topic, body, created_at }: EventRow): StoredEvent {
  return { seq, topic, body, at: created_at }
}
