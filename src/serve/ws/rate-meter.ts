import type { Clock } from '../../clock.ts'
import type { Rate } from '../../options.ts'

/** Counts messages against a rate. */
export class RateMeter {
  readonly #perSecond: number
  readonly #burst: number
  readonly #clock: Clock
  #left: number
  #at: number

  constructor({ perSecond, burst = perSecond }: Rate, clock: Clock) {
    this.#perSecond = perSecond
    this.#burst = Math.max(1, burst)
    this.#clock = clock
    this.#left = this.#burst
    this.#at = clock.now()
  }

  /** Takes one; gives back how long to wait when there is none. */
  take(): number {
    const now = this.#clock.now()
    // A clock that is set back gives nothing.
    const passedMs = Math.max(0, now - this.#at)
    this.#at = now
    this.#left = Math.min(this.#burst, this.#left + (passedMs * this.#perSecond) / 1_000)
    if (this.#left < 1) return ((1 - this.#left) * 1_000) / this.#perSecond
    this.#left--
    return 0
  }
}
