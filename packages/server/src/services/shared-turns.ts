import { ToolError } from '@tool-hub/core'

const MAX_WAITING = 8

/**
 * Runs expensive work one at a time. Concurrent requests for the same work share its result; when too many wait,
 * further ones are refused.
 */
export class SharedTurns {
  readonly #what: string
  readonly #asked = new Map<string, Promise<unknown>>()
  #last: Promise<unknown> = Promise.resolve()

  /** `what` names the work in refusals. */
  constructor(what: string) {
    this.#what = what
  }

  /** Equal keys must mean the same work. */
  share<T>(key: string, work: () => Promise<T>): Promise<T> {
    const same = this.#asked.get(key)
    if (same) return same as Promise<T>
    if (this.#asked.size > MAX_WAITING) {
      return Promise.reject(
        new ToolError(
          'RATE_LIMITED',
          `${this.#what} is asked for by ${this.#asked.size} others, the most there may be.`,
          {
            hint: 'Try again in a moment.',
          },
        ),
      )
    }
    const turn = this.#last.then(work).finally(() => this.#asked.delete(key))
    this.#asked.set(key, turn)
    // The caller gets the error; the next work still runs.
    this.#last = turn.catch(() => {})
    return turn
  }
}
