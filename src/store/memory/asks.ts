import { isOwnerAlive } from '../../disk/process-owner.ts'
import { ToolError } from '../../errors.ts'
import type { Ask, AskAnswer, AskBrief, AskStore, NewAsk } from '../../store.ts'
import { ASK_AGE_MS } from '../rules/ages.ts'
import { assertMayAsk } from '../rules/assert-may-ask.ts'
import { compareIds } from '../rules/compare-ids.ts'
import { pageSize } from '../rules/page-size.ts'
import { assertRoom } from './assert-room.ts'
import type { MemoryEvents } from './events.ts'

/** Asks in memory, oldest first; those that are over make room, those that wait never do. */
export class MemoryAsks implements AskStore {
  readonly #asks = new Map<string, Ask>()
  readonly #maxAsks: number
  readonly #events: MemoryEvents
  readonly #now: () => number

  constructor(options: { readonly maxAsks: number; readonly events: MemoryEvents; readonly now: () => number }) {
    this.#maxAsks = options.maxAsks
    this.#events = options.events
    this.#now = options.now
  }

  file(ask: NewAsk, limit?: { readonly mostWaiting: number }): void {
    if (this.#asks.has(ask.id)) throw new ToolError('CONFLICT', `The ask ${ask.id} is filed already.`)
    if (limit) assertMayAsk(ask, this.#waitingOf(ask), limit)
    if (this.#asks.size >= this.#maxAsks) this.#makeRoom()
    this.#set({ ...ask, state: 'waiting', used: false }, ask.askedAt)
  }

  answer(id: string, answer: AskAnswer): { won: boolean; ask: Ask } | undefined {
    const ask = this.#asks.get(id)
    if (!ask) return undefined
    if (ask.state !== 'waiting' || answer.at > ask.expiresAt) return { won: false, ask }
    return { won: true, ask: this.#set({ ...ask, state: 'answered', answer: { ...answer } }, answer.at) }
  }

  withdraw(id: string, state: 'withdrawn' | 'expired'): void {
    const ask = this.#asks.get(id)
    if (ask?.state === 'waiting') this.#set({ ...ask, state }, this.#now())
  }

  adopt({ hash, caller, owner, now }: { hash: string; caller: string; owner: string; now: number }): Ask | undefined {
    const found = [...this.#asks.values()]
      .filter((ask) => ask.hash === hash && ask.caller === caller && isOpen(ask, now))
      .sort(newestFirst)
      .find((ask) => !isOwnerAlive(ask.owner))
    return found && this.#set({ ...found, owner }, now)
  }

  leave(id: string, owner: string): void {
    const ask = this.#asks.get(id)
    if (ask?.state === 'waiting') this.#set({ ...ask, owner }, this.#now())
  }

  use(id: string): void {
    const ask = this.#asks.get(id)
    if (ask?.state === 'answered' && !ask.used) this.#set({ ...ask, used: true }, this.#now())
  }

  find(id: string): Ask | undefined {
    return this.#asks.get(id)
  }

  list(filter: { state?: Ask['state']; kind?: Ask['kind']; before?: number; limit?: number } = {}): readonly Ask[] {
    const { state, kind, before = Number.POSITIVE_INFINITY, limit } = filter
    return [...this.#asks.values()]
      .filter((ask) => (!state || ask.state === state) && (!kind || ask.kind === kind) && ask.askedAt < before)
      .sort(newestFirst)
      .slice(0, pageSize(limit))
  }

  briefs({
    caller,
    limit,
    ...filter
  }: {
    state?: Ask['state']
    kind?: Ask['kind']
    caller?: string
    before?: number
    limit?: number
  } = {}): readonly AskBrief[] {
    return this.list(filter)
      .filter((ask) => caller === undefined || ask.caller === caller)
      .slice(0, pageSize(limit))
      .map(({ id, kind, caller, askedAt, expiresAt, state }) => ({ id, kind, caller, askedAt, expiresAt, state }))
  }

  sweep(now: number): void {
    const long = now - ASK_AGE_MS
    for (const [id, { state, askedAt, expiresAt }] of this.#asks)
      if (expiresAt < long || (state !== 'waiting' && askedAt < long)) this.#asks.delete(id)
  }

  #waitingOf({ caller, askedAt }: NewAsk): number {
    let waiting = 0
    for (const ask of this.#asks.values())
      if (ask.caller === caller && ask.state === 'waiting' && ask.expiresAt >= askedAt) waiting++
    return waiting
  }

  #set(ask: Ask, at: number): Ask {
    this.#asks.set(ask.id, ask)
    this.#events.append({ topic: 'ask', body: JSON.stringify({ id: ask.id, state: ask.state }), at })
    return ask
  }

  #makeRoom(): void {
    for (const [id, { state, used }] of this.#asks) {
      if (state === 'waiting' || (state === 'answered' && !used)) continue
      this.#asks.delete(id)
      return
    }
    assertRoom(this.#asks, this.#maxAsks, 'asks that wait')
  }
}

function isOpen({ state, expiresAt, used }: Ask, now: number): boolean {
  return state === 'waiting' ? expiresAt >= now : state === 'answered' && !used
}

function newestFirst(a: Ask, b: Ask): number {
  return b.askedAt - a.askedAt || compareIds(b.id, a.id)
}
