import { HttpRefusal } from '../answer/http-refusal.ts'
import type { EventStream } from './event-stream.ts'

/** The streams of events that are open, bounded in all and for each principal. */
export class StreamTable {
  readonly #most: { readonly all: number; readonly each: number }
  readonly #streams = new Map<EventStream, string>()
  readonly #counts = new Map<string, number>()

  constructor(most: { readonly all: number; readonly each: number }) {
    this.#most = most
  }

  /** Refuses when there is no room for one more of a principal. */
  check(principal: string): void {
    const own = this.#counts.get(principal) ?? 0
    if (own >= this.#most.each) throw full(`${principal} has ${own} streams open, the most that one may have.`)
    if (this.#streams.size >= this.#most.all)
      throw full(`${this.#streams.size} streams are open, the most there may be.`)
  }

  add(stream: EventStream, principal: string): void {
    this.#streams.set(stream, principal)
    this.#counts.set(principal, (this.#counts.get(principal) ?? 0) + 1)
  }

  remove(stream: EventStream): void {
    const principal = this.#streams.get(stream)
    if (principal === undefined) return
    this.#streams.delete(stream)
    const left = this.#counts.get(principal)! - 1
    if (left > 0) this.#counts.set(principal, left)
    else this.#counts.delete(principal)
  }

  endAll(): void {
    for (const stream of this.#streams.keys()) stream.end()
  }
}

function full(message: string): HttpRefusal {
  return new HttpRefusal(429, 'RATE_LIMITED', message, { hint: 'Close one, or wait.', headers: { 'retry-after': '5' } })
}
