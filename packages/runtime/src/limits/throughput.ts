import { type Awaitable, type Clock, type Rate, type RateBucket, type RateStore, ToolError } from '@tool-hub/core'
import { after } from '@tool-hub/core/lib'

interface Limits {
  readonly all?: Rate
  readonly tools?: Readonly<Record<string, Rate>>
}

interface NamedBucket extends RateBucket {
  /** Whom it limits, and where the owner says so. */
  readonly who: string
  readonly key: string
}

/** Arguments of so many bytes count as one more call. */
const BYTES_A_TOKEN = 100_000

const MAX_WAITING = 100_000
const NOTHING_TO_RELEASE: Release = () => {}

/** Token buckets for all calls together, single tools and a principal; a bucket holds `burst` calls. Default: those of one second. */
export class RateLimiter {
  readonly #limits: Limits
  readonly #principals: readonly NamedBucket[]
  readonly #all: readonly NamedBucket[]
  readonly #tools: ReadonlyMap<string, readonly NamedBucket[]>
  readonly #store: RateStore
  readonly #clock: Clock
  /** Whether any call takes a token. */
  readonly isLimited: boolean

  constructor(limits: Limits, store: RateStore, clock: Clock, principals: readonly NamedBucket[] = []) {
    this.#limits = limits
    this.#store = store
    this.#clock = clock
    const all = limits.all ? [newBucket('all', limits.all, 'All tools together', 'limits.rate')] : []
    this.#principals = principals
    this.#all = [...all, ...principals]
    this.#tools = new Map(
      Object.entries(limits.tools ?? {}).map(([tool, rate]) => {
        const bucket = newBucket(`tool:${tool}`, rate, tool, `limits.tools[${JSON.stringify(tool)}].rate`)
        return [tool, [...this.#all, bucket]]
      }),
    )
    this.isLimited = this.#all.length > 0 || this.#tools.size > 0
  }

  /** The same limits, and those of one more principal. */
  forPrincipal(name: string, rate: Rate): RateLimiter {
    const bucket = newBucket(`principal:${name}`, rate, name, 'rate')
    return new RateLimiter(this.#limits, this.#store, this.#clock, [...this.#principals, bucket])
  }

  /** Takes a token of every bucket that the call belongs to, more for large arguments; a refused call takes none. */
  take(tool: string, bytes = 0): Awaitable<void> {
    const buckets = this.#tools.get(tool) ?? this.#all
    if (buckets.length === 0) return
    return after(this.#store.take(buckets, this.#clock.now(), 1 + Math.floor(bytes / BYTES_A_TOKEN)), (outcome) => {
      if (!outcome.ok) throw limited(buckets.find(({ bucket }) => bucket === outcome.bucket)!, outcome.waitMs)
    })
  }
}

function newBucket(bucket: string, { perSecond, burst }: Rate, who: string, key: string): NamedBucket {
  return { bucket, perSecond, burst: Math.max(1, burst ?? Math.ceil(perSecond)), who, key }
}

function limited({ who, key, perSecond, burst }: NamedBucket, retryAfterMs: number): ToolError {
  const wait = Number.isFinite(retryAfterMs) ? `wait ${retryAfterMs} ms` : 'waiting will not help'
  return new ToolError('RATE_LIMITED', `${who}: at most ${perSecond} calls a second, in bursts of ${burst}; ${wait}.`, {
    fix: { key, hint: `Wait as long as the message says, then call again, or have the owner raise ${key}.` },
    details: { retryAfterMs, perSecond, burst },
    retryable: Number.isFinite(retryAfterMs),
  })
}

/** Frees the place; a second call does nothing. */
export type Release = () => void

interface Waiter {
  readonly ticket: number
  readonly enter: () => void
}

interface Lane {
  readonly limit: number
  active: number
  readonly waiting: Fifo<Waiter>
}

/**
 * Bounds how many calls run at the same time, in all and per tool. Calls start in the order they came, but one that waits
 * for its own tool does not hold up the others.
 */
export class Concurrency {
  readonly #limit: number
  readonly #lanes: ReadonlyMap<string, Lane>
  /** The tools without a limit of their own. */
  readonly #shared = newLane(Number.POSITIVE_INFINITY)
  #active = 0
  #waiting = 0
  #tickets = 0

  constructor(limits: { readonly all?: number; readonly tools?: Readonly<Record<string, number>> }) {
    this.#limit = limits.all ?? Number.POSITIVE_INFINITY
    this.#lanes = new Map(Object.entries(limits.tools ?? {}).map(([tool, limit]) => [tool, newLane(limit)]))
  }

  /** Enters immediately when there is room; else waits its turn. The signal is read only when there is a wait. */
  enter(tool: string, call: { readonly signal: AbortSignal }): Release | Promise<Release> {
    const own = this.#lanes.get(tool)
    if (!own && this.#limit === Number.POSITIVE_INFINITY) return NOTHING_TO_RELEASE
    const lane = own ?? this.#shared
    // Waiting calls cannot use the room there is now, or they would have started: nothing is overtaken.
    if (this.#hasRoom(lane)) return this.#admit(lane)
    return this.#wait(tool, lane, call.signal)
  }

  #hasRoom(lane: Lane): boolean {
    return this.#active < this.#limit && lane.active < lane.limit
  }

  #admit(lane: Lane): Release {
    this.#active++
    lane.active++
    let isInside = true
    return () => {
      if (!isInside) return
      isInside = false
      this.#active--
      lane.active--
      this.#admitNext()
    }
  }

  #wait(tool: string, lane: Lane, signal: AbortSignal): Promise<Release> {
    if (signal.aborted) return Promise.reject(aborted(tool, signal))
    if (this.#waiting >= MAX_WAITING) return Promise.reject(tooManyWaiting(tool))
    this.#waiting++
    return new Promise((resolve, reject) => {
      const leave = lane.waiting.push({
        ticket: this.#tickets++,
        enter: () => {
          signal.removeEventListener('abort', giveUp)
          this.#waiting--
          resolve(this.#admit(lane))
        },
      })
      const giveUp = () => {
        leave()
        this.#waiting--
        reject(aborted(tool, signal))
      }
      signal.addEventListener('abort', giveUp)
    })
  }

  #admitNext(): void {
    if (this.#waiting === 0) return
    for (let lane = this.#nextLane(); lane; lane = this.#nextLane()) lane.waiting.shift()?.enter()
  }

  /** Of the lanes with room, the one whose first has waited longest. */
  #nextLane(): Lane | undefined {
    let next = this.#hasRoom(this.#shared) && this.#shared.waiting.peek() ? this.#shared : undefined
    let lowest = next?.waiting.peek()?.ticket ?? Number.POSITIVE_INFINITY
    for (const lane of this.#lanes.values()) {
      const ticket = lane.waiting.peek()?.ticket
      if (ticket === undefined || ticket > lowest || !this.#hasRoom(lane)) continue
      lowest = ticket
      next = lane
    }
    return next
  }
}

function newLane(limit: number): Lane {
  return { limit, active: 0, waiting: new Fifo() }
}

function aborted(tool: string, signal: AbortSignal): ToolError {
  return new ToolError('ABORTED', `The caller stopped ${tool} while it waited for its turn.`, { cause: signal.reason })
}

function tooManyWaiting(tool: string): ToolError {
  return new ToolError('RATE_LIMITED', `${tool} cannot wait: ${MAX_WAITING} calls wait already.`, {
    hint: 'Wait until calls have ended, then call again.',
  })
}

interface Link<T> {
  readonly value: T
  before: Link<T> | undefined
  after: Link<T> | undefined
}

/** First in, first out, and a value may leave from the middle; every operation takes constant time. */
export class Fifo<T> {
  #first: Link<T> | undefined
  #last: Link<T> | undefined

  /** The first value, without taking it. */
  peek(): T | undefined {
    return this.#first?.value
  }

  /** Takes the first value. */
  shift(): T | undefined {
    const first = this.#first
    if (first) this.#unlink(first)
    return first?.value
  }

  /** Queues a value. Returns a function that removes it early. */
  push(value: T): () => void {
    const link: Link<T> = { value, before: this.#last, after: undefined }
    if (this.#last) this.#last.after = link
    else this.#first = link
    this.#last = link
    return () => {
      // A link that was taken has no neighbours left, but it is not the first either.
      if (link.before || this.#first === link) this.#unlink(link)
    }
  }

  #unlink(link: Link<T>): void {
    if (link.before) link.before.after = link.after
    else this.#first = link.after
    if (link.after) link.after.before = link.before
    else this.#last = link.before
    link.before = undefined
    link.after = undefined
  }
}
