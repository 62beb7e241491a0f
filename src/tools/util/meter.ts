import { ToolError } from '../../core/index.ts'

/** About half a second of work; an ordinary call takes a few hundred steps. */
const MAX_STEPS = 5_000_000

/** Counts the work that a model's expression or template causes: it runs on the main thread, so it may not hold up others. */
export class Meter {
  readonly #subject: string
  readonly #hint: string
  #left = MAX_STEPS

  constructor(subject: string, hint: string) {
    this.#subject = subject
    this.#hint = hint
  }

  /** Takes `steps` from what is left, before they are done; a negative number or NaN is a slip in counting, and stops too. */
  spend(steps: number): void {
    this.#left -= steps
    if (steps >= 0 && this.#left >= 0) return
    throw new ToolError('INPUT_SCHEMA_INVALID', `${this.#subject} needs more than ${MAX_STEPS} steps on this data.`, {
      hint: this.#hint,
    })
  }
}
