import { z } from 'zod'
import { type Clock, type FeatureHost, ToolError } from '../../core/index.ts'
import { parseJson } from '../../lib/index.ts'
import { LOOK_MS } from './bounds.ts'

const newsSchema = z.object({ ability: z.literal('sessions'), subject: z.string() })

/** What is waited for, and how long. */
export interface Wait<T> {
  /** Sessions whose news may bring it. */
  readonly subjects: readonly string[]
  readonly look: () => Promise<T | undefined>
  readonly withinMs: number
  readonly signal?: AbortSignal
}

/** News of sessions, from this process and all others with the same store. The store is watched only while somebody listens. */
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

  /** Something of this session is another one now. */
  tell(session: string): void {
    try {
      this.#host.emitChange('sessions', session)
    } catch {
      // The store is gone: nobody can hear of it, and whoever waits looks by itself.
    }
  }

  /** Hears of a session; returns how to stop. */
  on(session: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(session) ?? new Set()
    listeners.add(listener)
    this.#listeners.set(session, listeners)
    this.#stopWatching ??= this.#host.store.events.watch(({ topic, body }) => {
      if (topic === 'ability') this.#hear(body)
    })
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0 && this.#listeners.get(session) === listeners) this.#listeners.delete(session)
      if (this.#listeners.size === 0) this.#stop()
    }
  }

  /** Looks for something now, at every news and every second; nothing when it did not come in time. */
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
          const cancel = this.#clock.after(Math.min(leftMs, LOOK_MS), resolve)
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

  /** Whoever waits does so no longer. */
  close(): void {
    this.#closing.abort()
  }

  #hear(body: string): void {
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
  return new ToolError('ABORTED', 'The hub was closed while it was waited; what was sent is kept.')
}
