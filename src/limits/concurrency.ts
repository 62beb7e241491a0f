import { ToolError } from '../core/index.ts'

/** Gives the place back; a second time does nothing. */
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

const MAX_WAITING = 100_000
const NOTHING_TO_RELEASE: Release = () => {}

/**
 * Bounds how many calls run at the same time, in all and per tool. Who came first goes first, but a call that waits
 * for its own tool holds up nobody else.
 */
export class Concurrency {
  readonly #limit: number
  readonly #lanes: ReadonlyMap<string, Lane>
  /** The tools without a limit of their own. */
  readonly #shared = newLane(Number.POSITIVE_INFINITY)
  readonly #isLimited: boolean
  #active = 0
  #waiting = 0
  #tickets = 0

  constructor(limits: { readonly all?: number; readonly tools?: Readonly<Record<string, number>> }) {
    this.#limit = limits.all ?? Number.POSITIVE_INFINITY
    this.#lanes = new Map(Object.entries(limits.tools ?? {}).map(([tool, limit]) => [tool, newLane(limit)]))
    this.#isLimited = limits.all !== undefined || this.#lanes.size > 0
  }

  /** Enters immediately when there is room; else waits its turn. `signal` is asked for only when there is a wait. */
  enter(tool: string, signal: () => AbortSignal): Release | Promise<Release> {
    if (!this.#isLimited) return NOTHING_TO_RELEASE
    const lane = this.#lanes.get(tool) ?? this.#shared
    // Waiting calls cannot use the room there is now, or they would have started: nothing is overtaken.
    if (this.#hasRoom(lane)) return this.#admit(lane)
    return this.#wait(tool, lane, signal())
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

/** First in, first out, and anybody may leave from the middle; every step takes the same short time. */
export class Fifo<T> {
  #first: Link<T> | undefined
  #last: Link<T> | undefined

  /** Who is next, without taking it. */
  peek(): T | undefined {
    return this.#first?.value
  }

  /** Takes who is next. */
  shift(): T | undefined {
    const first = this.#first
    if (first) this.#unlink(first)
    return first?.value
  }

  /** Queues a value and returns how it leaves early. */
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
