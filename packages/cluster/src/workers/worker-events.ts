import type { CallEvent, Clock, EventStore } from '@tool-hub/core'
import { parseJson } from '@tool-hub/core/lib'
import { z } from 'zod'

/** The topics of the events between the processes of runs and workers: places, or ids of calls. */
export const WORKER_EVENTS = {
  queued: 'worker-queued',
  stopped: 'worker-stopped',
  ended: 'worker-ended',
  progressed: 'worker-progressed',
} as const

/** A piece of progress of a job. */
export type WorkerProgress = Extract<CallEvent, { type: 'call-progressed' }>['content']

const PROGRESS_MS = 200
const MAX_PROGRESS_CHARS = 16_384

/** Emits events for the other processes: what is announced while one is being written goes into the next one. */
export class Announcer {
  readonly #events: EventStore
  readonly #clock: Clock
  readonly #topic: string
  #waiting = new Set<string>()
  #isWriting = false

  constructor(events: EventStore, clock: Clock, topic: string) {
    this.#events = events
    this.#clock = clock
    this.#topic = topic
  }

  announce(subject: string): void {
    this.#waiting.add(subject)
    if (!this.#isWriting) void this.#write()
  }

  async #write(): Promise<void> {
    this.#isWriting = true
    // What happens in the same turn belongs to the same event.
    await null
    while (this.#waiting.size > 0) {
      const body = JSON.stringify([...this.#waiting])
      this.#waiting = new Set()
      try {
        await this.#events.append({ topic: this.#topic, body, at: this.#clock.now() })
      } catch {
        // The other processes poll as well.
      }
    }
    this.#isWriting = false
  }
}

/** Returns what an event announces. */
export function announced(body: string): readonly string[] {
  const parsed = z.array(z.string()).safeParse(parseJson(body))
  return parsed.success ? parsed.data : []
}

/** Relays progress at most five times a second, with the newest piece. */
export class ProgressRelay {
  readonly #clock: Clock
  readonly #send: (content: WorkerProgress) => void
  #newest: WorkerProgress | undefined
  #cancel: (() => void) | undefined

  constructor(clock: Clock, send: (content: WorkerProgress) => void) {
    this.#clock = clock
    this.#send = send
  }

  add(content: WorkerProgress): void {
    if (JSON.stringify(content).length > MAX_PROGRESS_CHARS) return
    this.#newest = content
    this.#cancel ??= this.#clock.after(PROGRESS_MS, () => this.#flush(), { background: true })
  }

  end(): void {
    this.#cancel?.()
    this.#flush()
  }

  #flush(): void {
    this.#cancel = undefined
    const newest = this.#newest
    this.#newest = undefined
    if (newest) this.#send(newest)
  }
}
