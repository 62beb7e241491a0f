import { type Clock, systemClock } from '../../clock.ts'

/** Something that ends at a moment unless it is removed before. */
export interface Watched {
  /** A moment as `DeadlineWatch.now` tells it. */
  readonly endsAt: number
  expire(): void
}

/**
 * One timer for all requests of a guard. Setting and clearing a timer for each took a tenth of a short request; this
 * one is set for the earliest end and looks again when it fires.
 */
export class DeadlineWatch {
  readonly #clock: Clock
  readonly #active = new Set<Watched>()
  #firesAt = Number.POSITIVE_INFINITY
  #cancel: (() => void) | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Time that only ever moves on: the day of the machine's clock may be set while a request runs. */
  now(): number {
    return this.#clock === systemClock ? performance.now() : this.#clock.now()
  }

  add(watched: Watched): void {
    this.#active.add(watched)
    if (watched.endsAt < this.#firesAt) this.#setTimer(watched.endsAt)
  }

  remove(watched: Watched): void {
    this.#active.delete(watched)
  }

  close(): void {
    this.#cancel?.()
  }

  #setTimer(at: number): void {
    this.#cancel?.()
    this.#firesAt = at
    // In the background: a request under way keeps the process alive by its socket, and after it nothing should.
    this.#cancel = this.#clock.after(Math.max(0, at - this.now()), () => this.#fire(), { background: true })
  }

  #fire(): void {
    this.#firesAt = Number.POSITIVE_INFINITY
    const now = this.now()
    let next = Number.POSITIVE_INFINITY
    for (const watched of this.#active) {
      if (watched.endsAt <= now) watched.expire()
      else next = Math.min(next, watched.endsAt)
    }
    if (next < this.#firesAt) this.#setTimer(next)
  }
}
