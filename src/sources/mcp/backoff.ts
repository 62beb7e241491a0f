const FIRST_DELAY_MS = 500
/** One that lived so long has not failed quickly. */
const STEADY_MS = 30_000
const MOST_QUICK_FAILURES = 5

/** When to start something again that failed: twice as late each time, and not by itself after five quick failures. */
export class Backoff {
  readonly #random: () => number
  #failures = 0

  constructor(random: () => number = Math.random) {
    this.#random = random
  }

  /** How long to wait after a failure; undefined when only somebody who asks for it should start it again. */
  afterFailure(livedMs: number): number | undefined {
    this.#failures = livedMs >= STEADY_MS ? 1 : this.#failures + 1
    if (this.#failures >= MOST_QUICK_FAILURES) return undefined
    const ceilingMs = FIRST_DELAY_MS * 2 ** (this.#failures - 1)
    return Math.round(ceilingMs * (0.5 + this.#random() / 2))
  }
}
