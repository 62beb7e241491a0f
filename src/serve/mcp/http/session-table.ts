import type { Clock } from '../../../clock.ts'
import type { ClientSession } from '../client-session.ts'

/** A session over HTTP, and what is open for it. */
export interface TableEntry {
  readonly session: ClientSession
  /** Ends the session with all that belongs to it; never fails. */
  readonly close: () => Promise<void>
  usedAt: number
  /** Streams on which its client listens. */
  streams: number
}

/**
 * The sessions of a server: bounded in number, and each ends when its client has done nothing for long. When there are
 * too many, the one that was idle for longest makes room.
 */
export class SessionTable<E extends TableEntry> {
  readonly #entries = new Map<string, E>()
  readonly #most: number
  readonly #idleMs: number
  readonly #clock: Clock
  #cancelSweep: (() => void) | undefined

  constructor({ most, idleMs, clock }: { readonly most: number; readonly idleMs: number; readonly clock: Clock }) {
    this.#most = most
    this.#idleMs = idleMs
    this.#clock = clock
  }

  /** The session of a key, which is thereby in use. */
  get(key: string): E | undefined {
    const entry = this.#entries.get(key)
    if (entry) entry.usedAt = this.#clock.now()
    return entry
  }

  /** Whether there is room for one more, after one that is idle made it. */
  makeRoom(): boolean {
    if (this.#entries.size < this.#most) return true
    const [idlest] = [...this.#entries].filter(([, entry]) => isIdle(entry)).sort(([, a], [, b]) => a.usedAt - b.usedAt)
    if (!idlest) return false
    this.#close(...idlest)
    return true
  }

  add(key: string, entry: E): void {
    this.#entries.set(key, entry)
    this.#cancelSweep ??= this.#sweepLater()
  }

  /** Forgets a session that has ended by itself. */
  remove(key: string): void {
    this.#entries.delete(key)
  }

  /** Resolves when no call is under way. */
  async whenIdle(): Promise<void> {
    await Promise.all([...this.#entries.values()].map(({ session }) => session.whenIdle()))
  }

  async closeAll(): Promise<void> {
    this.#cancelSweep?.()
    const entries = [...this.#entries.values()]
    this.#entries.clear()
    await Promise.allSettled(entries.map(({ close }) => close()))
  }

  #sweepLater(): () => void {
    return this.#clock.after(
      this.#idleMs / 4,
      () => {
        const oldest = this.#clock.now() - this.#idleMs
        for (const [key, entry] of this.#entries) if (isIdle(entry) && entry.usedAt <= oldest) this.#close(key, entry)
        this.#cancelSweep = this.#entries.size > 0 ? this.#sweepLater() : undefined
      },
      { background: true },
    )
  }

  #close(key: string, entry: E): void {
    this.#entries.delete(key)
    void entry.close()
  }
}

function isIdle({ session, streams }: TableEntry): boolean {
  return streams === 0 && !session.isBusy
}
