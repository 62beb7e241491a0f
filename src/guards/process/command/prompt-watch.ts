import type { Clock } from '../../../clock.ts'
import { LastBytes } from '../output/last-bytes.ts'
import { looksLikePrompt } from './looks-like-prompt.ts'

const LAST_BYTES = 256
const QUIET_MS = 500

/**
 * Notices that a command asks for something: its last words ask, nobody has answered and it is silent. What a process
 * really blocks on is not to be seen from outside its jail; one that reads without asking is not noticed.
 */
export class PromptWatch {
  readonly #clock: Clock
  /** With secrets: a prompt is judged here and never shown from here. */
  readonly #last = new LastBytes(LAST_BYTES)
  #outputAt = 0
  #isAnswered = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** It has written. */
  note(bytes: Uint8Array): void {
    this.#last.push(bytes)
    this.#outputAt = this.#clock.now()
    this.#isAnswered = false
  }

  /** Something was written to it. */
  answer(): void {
    this.#isAnswered = true
  }

  /** How long it must stay silent until it counts as asking, 0 when it does; undefined when it asks nothing. */
  asksIn(): number | undefined {
    if (this.#isAnswered || !looksLikePrompt(this.#last.bytes())) return undefined
    return Math.max(0, this.#outputAt + QUIET_MS - this.#clock.now())
  }
}
