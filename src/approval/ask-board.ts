import { z } from 'zod'
import type { Clock } from '../clock.ts'
import { currentProcess } from '../disk/process-identity.ts'
import { newOwner, retireOwner } from '../disk/process-owner.ts'
import { messageOf, ToolError } from '../errors.ts'
import type { Ask, AskAnswer, NewAsk, Store, StoredEvent } from '../store.ts'

/** Topic of the events by which the store tells of asks. */
const TOPIC = 'ask'
const newsSchema = z.object({ id: z.string() })

/** No process has this number. */
const NO_PROCESS = 2 ** 31 - 1

/** Looking whether an answer is used, and using it, takes milliseconds. */
const CLAIM_MS = 60_000
/** For how long an answer that came while nobody waited is good. */
const ANSWER_HOLDS_MS = 24 * 3_600_000
/** So many asks of one principal wait at once: more would keep those of others from being seen. */
const MOST_WAITING_EACH = 100
/** The same where the hub knows no principals, and its owner makes all calls. */
const MOST_WAITING = 10_000

/** The asks of one hub in the store, where every process sees and answers them. */
export class AskBoard {
  readonly #store: Store
  readonly #clock: Clock
  readonly #listeners = new Map<string, (ask: Ask) => void>()
  #stopWatching: (() => void) | undefined
  #owner: string | undefined

  constructor(store: Store, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /** An ask for the same call that waits, or whose answer nobody has used: of a process that is gone, or one that was left. */
  async adopt(asked: { readonly hash: string; readonly caller: string }, isLeft = false): Promise<Ask | undefined> {
    const now = this.#clock.now()
    const ask = await this.#store.asks.adopt({ ...asked, owner: this.#ownerOf(isLeft), now })
    const isGood = ask?.answer ? ask.answer.at + ANSWER_HOLDS_MS > now : ask && ask.expiresAt > now
    return isGood ? ask : undefined
  }

  /** RATE_LIMITED when enough of the same principal wait. */
  async file(
    ask: Omit<NewAsk, 'owner'>,
    { isLeft = false, isOfPrincipal = false }: { readonly isLeft?: boolean; readonly isOfPrincipal?: boolean } = {},
  ): Promise<void> {
    const mostWaiting = isOfPrincipal ? MOST_WAITING_EACH : MOST_WAITING
    await this.#store.asks.file({ ...ask, owner: this.#ownerOf(isLeft) }, { mostWaiting })
  }

  /** Hears when an ask is answered or withdrawn by any process. Returns how to stop. */
  listen(id: string, listener: (ask: Ask) => void): () => void {
    this.#stopWatching ??= this.#store.events.watch((event) => this.#hear(event))
    this.#listeners.set(id, listener)
    return () => {
      this.#listeners.delete(id)
      if (this.#listeners.size > 0) return
      this.#stopWatching?.()
      this.#stopWatching = undefined
    }
  }

  /** The first answer wins; says whether this one did, and which one holds. RECORDS_UNAVAILABLE if it cannot be stored. */
  async answer(
    id: string,
    answer: Omit<AskAnswer, 'at'>,
  ): Promise<{ readonly won: boolean; readonly ask: Ask } | undefined> {
    try {
      return await this.#store.asks.answer(id, { ...answer, at: this.#clock.now() })
    } catch (cause) {
      throw new ToolError('RECORDS_UNAVAILABLE', `The answer to ${id} was not stored: ${messageOf(cause)}`, {
        hint: `Nothing was decided, and ${id} still waits: answer again when the store can be written.`,
        cause,
      })
    }
  }

  /** Takes the answer for one call: false when another call has taken it, perhaps of another process. */
  async claim(id: string, callId: string): Promise<boolean> {
    const { asks, slots } = this.#store
    const slot = `ask:${id}`
    const now = this.#clock.now()
    if (!(await slots.lease(slot, { owner: callId, now, until: now + CLAIM_MS }))) return false
    try {
      const ask = await asks.find(id)
      if (ask?.state !== 'answered' || ask.used) return false
      await asks.use(id)
      return true
    } finally {
      await slots.release(slot, callId)
    }
  }

  async withdraw(id: string, state: 'withdrawn' | 'expired'): Promise<void> {
    await this.#store.asks.withdraw(id, state)
  }

  /** Its caller went away: the same call, made again, has it. */
  async leave(id: string): Promise<void> {
    await this.#store.asks.leave(id, nobody())
  }

  async find(id: string): Promise<Ask | undefined> {
    return this.#store.asks.find(id)
  }

  /** What waits in any process, oldest first. */
  async waiting(): Promise<readonly Ask[]> {
    const now = this.#clock.now()
    return (await this.#store.asks.list({ state: 'waiting' })).filter(({ expiresAt }) => expiresAt > now).reverse()
  }

  /** This hub waits for nothing more: whoever makes the same call again has what it asked. */
  retire(): void {
    if (this.#owner !== undefined) retireOwner(this.#owner)
  }

  #ownerOf(isLeft: boolean): string {
    if (isLeft) return nobody()
    this.#owner ??= newOwner()
    return this.#owner
  }

  #hear({ topic, body }: StoredEvent): void {
    const id = topic === TOPIC ? idOf(body) : undefined
    if (id !== undefined && this.#listeners.has(id)) void this.#look(id)
  }

  async #look(id: string): Promise<void> {
    try {
      const ask = await this.#store.asks.find(id)
      if (ask && ask.state !== 'waiting') this.#listeners.get(id)?.(ask)
    } catch {
      // What cannot be read now may be told again; else the ask ends with its time, which is a no.
    }
  }
}

/** Whether the call that asked does not wait for the answer by its own wish: the same call, made again, uses it. */
export function isLeftAsk({ owner }: Pick<Ask, 'owner'>): boolean {
  return owner.includes(`"pid":${NO_PROCESS},`)
}

/** Owner of an ask that no call waits for: a process of this machine that does not live. */
function nobody(): string {
  return JSON.stringify({ pid: NO_PROCESS, space: currentProcess().space })
}

function idOf(body: string): string | undefined {
  try {
    return newsSchema.safeParse(JSON.parse(body)).data?.id
  } catch {
    // Not of ours.
    return undefined
  }
}
