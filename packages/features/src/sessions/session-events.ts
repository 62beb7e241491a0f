import { type Clock, type FeatureHost, ToolError, watchTopic } from '@tool-hub/core'
import { parseJson } from '@tool-hub/core/lib'
import { z } from 'zod'

/** How often a waiter checks by itself, in case an event was lost. */
const POLL_MS = 1_000

const newsSchema = z.object({ feature: z.literal('sessions'), subject: z.string() })

/** What to wait for, and how long. */
export interface Wait<T> {
  /** Sessions whose events may satisfy it. */
  readonly subjects: readonly string[]
  readonly look: () => Promise<T | undefined>
  readonly withinMs: number
  readonly signal?: AbortSignal
}

/** Change events of sessions from all processes with the same store. The store is watched only while there are listeners. */
export class SessionEvents {
  readonly #host: Pick<FeatureHost, 'store' | 'emitChange' | 'clock'>
  readonly #listeners = new Map<string, Set<() => void>>()
  readonly #closing = new AbortController()
  #stopWatching: (() => void) | undefined

  constructor(host: Pick<FeatureHost, 'store' | 'emitChange' | 'clock'>) {
    this.#host = host
  }

  get #clock(): Clock {
    return this.#host.clock
  }

  /** Notifies listeners in all processes that a session has changed. */
  emit(session: string): void {
    try {
      this.#host.emitChange('sessions', session)
    } catch {
      // The store is closed; waiters poll by themselves.
    }
  }

  /** Listens for changes of a session; returns a function that stops listening. */
  on(session: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(session) ?? new Set()
    listeners.add(listener)
    this.#listeners.set(session, listeners)
    this.#stopWatching ??= watchTopic(this.#host.store.events, 'feature', (body) => this.#receive(body))
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0 && this.#listeners.get(session) === listeners) this.#listeners.delete(session)
      if (this.#listeners.size === 0) this.#stop()
    }
  }

  /** Calls `look` now, at every event and every second until it returns a value; returns `undefined` if the time is up. */
  async until<T>({ subjects, look, withinMs, signal }: Wait<T>): Promise<T | undefined> {
    const deadline = this.#clock.now() + withinMs
    let hasRung = false
    let wake = () => {}
    const ring = () => {
      hasRung = true
      wake()
    }
    const stops = subjects.map((subject) => this.on(subject, ring))
    for (const each of [signal, this.#closing.signal]) each?.addEventListener('abort', ring)
    try {
      for (;;) {
        signal?.throwIfAborted()
        if (this.#closing.signal.aborted) throw closed()
        hasRung = false
        const found = await look()
        const leftMs = deadline - this.#clock.now()
        if (found !== undefined || !(leftMs > 0)) return found
        if (hasRung) continue
        await new Promise<void>((resolve) => {
          const cancel = this.#clock.after(Math.min(leftMs, POLL_MS), resolve)
          wake = () => {
            cancel()
            resolve()
          }
        })
      }
    } finally {
      for (const stop of stops) stop()
      for (const each of [signal, this.#closing.signal]) each?.removeEventListener('abort', ring)
    }
  }

  /** Rejects all waiters. */
  close(): void {
    this.#closing.abort()
  }

  #receive(body: string): void {
    const news = newsSchema.safeParse(parseJson(body))
    if (!news.success) return
    for (const listener of [...(this.#listeners.get(news.data.subject) ?? [])]) listener()
  }

  #stop(): void {
    this.#stopWatching?.()
    this.#stopWatching = undefined
  }
}

function closed(): ToolError {
  return new ToolError('ABORTED', 'The hub was closed while waiting; sent messages are kept.')
}
