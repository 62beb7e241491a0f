import { ToolError } from '../../core/index.ts'

const MAX_WAITING = 8

/**
 * Heavy work, one at a time: who asks for the same as somebody before who still waits shares that result, others wait
 * their turn, and when too many do they are told to come again.
 */
export class SharedTurns {
  readonly #what: string
  readonly #asked = new Map<string, Promise<unknown>>()
  #last: Promise<unknown> = Promise.resolve()

  /** `what` names the work for those who are refused. */
  constructor(what: string) {
    this.#what = what
  }

  /** `key` says what is asked for: equal keys must mean the same work. */
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
    // Whoever asked is told what went wrong; the next one goes on.
    this.#last = turn.catch(() => {})
    return turn
  }
}
