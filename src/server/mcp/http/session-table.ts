import type { Clock } from '../../../core/index.ts'
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
 * The sessions of a server, limited in number; each ends after its client was idle for long. When the table is full,
 * the principal with the most sessions loses the one that was idle for longest, so that nobody can lock others out: one
 * with more than a quarter of all loses even a session in use to one that has less.
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

  /** Whether there is room for one more of a principal, after another one made it. */
  makeRoom(principal: string): boolean {
    if (this.#entries.size < this.#most) return true
    const counts = this.#counts()
    const most = Math.max(0, ...counts.values())
    const own = counts.get(principal) ?? 0
    const isOwn = own >= most
    const others = [...this.#entries].filter(([, { session }]) =>
      isOwn ? session.principal === principal : counts.get(session.principal) === most,
    )
    const share = Math.max(1, Math.floor(this.#most / 4))
    const mayStop = own < share && most > share
    const [first] = others
      .filter(([, entry]) => mayStop || isIdle(entry))
      .sort(([, a], [, b]) => inUse(a) - inUse(b) || a.usedAt - b.usedAt)
    if (!first) return false
    this.#close(...first)
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

  /** Resolves when no call is in progress. */
  async whenIdle(): Promise<void> {
    await Promise.all([...this.#entries.values()].map(({ session }) => session.whenIdle()))
  }

  async closeAll(): Promise<void> {
    this.#cancelSweep?.()
    const entries = [...this.#entries.values()]
    this.#entries.clear()
    await Promise.allSettled(entries.map(({ close }) => close()))
  }

  #counts(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>()
    for (const { session } of this.#entries.values()) {
      counts.set(session.principal, (counts.get(session.principal) ?? 0) + 1)
    }
    return counts
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

function isIdle(entry: TableEntry): boolean {
  return inUse(entry) === 0
}

/** 0: idle, 1: its client has an open stream, 2: calls are in progress. */
function inUse({ session, streams }: TableEntry): number {
  if (session.isBusy) return 2
  return streams > 0 ? 1 : 0
}
