import { ToolError } from '../errors.ts'
import { escapeLine } from '../value/escape-text.ts'

/** Two calls with the largest input; asks that are read by people have a few thousand characters. */
const MOST_CHARS = 20_000_000

/** How much of what each principal asks for is held in this process, while it waits. */
export class WaitingRoom {
  readonly #chars = new Map<string, number>()

  /** Takes room for one ask, or refuses it. Returns how to give it back. */
  take(principal: string, chars: number): () => void {
    const before = this.#chars.get(principal) ?? 0
    const all = before + chars
    if (before > 0 && all > MOST_CHARS) throw full(principal, all)
    this.#chars.set(principal, all)
    return () => {
      const left = this.#chars.get(principal)! - chars
      if (left > 0) this.#chars.set(principal, left)
      else this.#chars.delete(principal)
    }
  }
}

function full(principal: string, chars: number): ToolError {
  const who = escapeLine(principal).slice(0, 200)
  const message = `What ${who} asks for has ${chars} characters, and at most ${MOST_CHARS} may wait.`
  return new ToolError('RATE_LIMITED', message, {
    hint: 'Wait until people have answered some of it, or make calls with smaller arguments.',
  })
}
