import {
  type NewSession,
  SESSION_AGE_MS,
  type SessionEnd,
  type SessionFilter,
  type SessionStore,
  type StoredSession,
} from '../../store-parts/sessions.ts'
import { pageSize } from '../rules/page-size.ts'
import { assertRoom } from './assert-room.ts'

/**
 * Sessions of agents in memory, oldest first. Those that are over make room, then runs in which no session was begun: they
 * are kept again when they next ask. Those that runners work in never do.
 */
export class MemorySessions implements SessionStore {
  readonly #sessions = new Map<string, StoredSession>()
  readonly #max: number
  #seq = 0

  constructor(max: number) {
    this.#max = max
  }

  add(session: NewSession, limit?: { readonly mostRunning: number }): number | undefined {
    if (limit && this.#running(session.root) >= limit.mostRunning) return undefined
    if (this.#sessions.has(session.id)) return undefined
    if (this.#sessions.size >= this.#max) this.#makeRoom()
    const seq = ++this.#seq
    this.#sessions.set(session.id, { ...session, seq, state: 'running' })
    return seq
  }

  find(id: string): StoredSession | undefined {
    return this.#sessions.get(id)
  }

  list(filter: SessionFilter): readonly StoredSession[] {
    const { before = Number.POSITIVE_INFINITY, createdBefore = Number.POSITIVE_INFINITY, limit, ...same } = filter
    const wanted = Object.entries(same).filter(([, value]) => value !== undefined) as [keyof typeof same, unknown][]
    return [...this.#sessions.values()]
      .filter((session) => session.seq < before && session.createdAt < createdBefore)
      .filter((session) => wanted.every(([key, value]) => session[key] === value))
      .toSorted((a, b) => b.seq - a.seq)
      .slice(0, pageSize(limit))
  }

  end(id: string, { state, reason, result, isTainted = false, at }: SessionEnd): boolean {
    const session = this.#sessions.get(id)
    if (session?.state !== 'running') return false
    this.#sessions.set(id, {
      ...session,
      state,
      isTainted: session.isTainted || isTainted,
      endedAt: at,
      ...(reason !== undefined && { reason }),
      ...(result !== undefined && { result }),
    })
    return true
  }

  reopen(id: string, owner: string): void {
    const session = this.#sessions.get(id)
    if (!session || session.runner !== undefined) return
    const { reason: _, endedAt: __, ...rest } = session
    this.#sessions.set(id, { ...rest, state: 'running', owner })
  }

  taint(id: string): void {
    const session = this.#sessions.get(id)
    if (session) this.#sessions.set(id, { ...session, isTainted: true })
  }

  sweep(now: number): void {
    for (const [id, { endedAt = now }] of this.#sessions) if (endedAt < now - SESSION_AGE_MS) this.#sessions.delete(id)
  }

  #running(root: string): number {
    let running = 0
    for (const session of this.#sessions.values())
      if (session.root === root && session.state === 'running' && session.runner !== undefined) running++
    return running
  }

  #makeRoom(): void {
    const all = [...this.#sessions.values()]
    const roots = new Set(all.flatMap(({ runner, root }) => (runner === undefined ? [] : [root])))
    const isBare = ({ id, runner }: StoredSession) => runner === undefined && !roots.has(id)
    const gone = all.find(({ state }) => state !== 'running') ?? all.find(isBare)
    if (gone) this.#sessions.delete(gone.id)
    else assertRoom(this.#sessions, this.#max, 'sessions that go on')
  }
}
