import type { FoldedValues } from '../folded-values.ts'
import { redactionMark } from '../redaction-mark.ts'
import type { Stage } from './stage.ts'

/** So few characters tell nothing of a value, and a prompt may end like this. */
const MAX_SHOWN = 3

/** Takes values out of a stream that are encoded or broken; what it ends with may be the beginning of one, and waits. */
export class FoldedStage implements Stage {
  readonly #values: FoldedValues
  #held = ''
  /** So many characters of `#held` went out before. */
  #shown = 0

  constructor(values: FoldedValues) {
    this.#values = values
  }

  push(input: string): string {
    return this.#settle(this.#held + input, false)
  }

  flush(): string {
    if (this.#values.countShown(this.#held) > MAX_SHOWN) return ''
    const output = this.#held.slice(this.#shown)
    this.#shown = this.#held.length
    return output
  }

  end(): string {
    return this.#settle(this.#held, true)
  }

  #settle(text: string, isEnd: boolean): string {
    const beginning = (from: number) => (isEnd ? text.length : this.#values.beginning(text, from))
    let from = 0
    let tail = beginning(0)
    let output = ''
    for (const { index, end } of this.#values.places(text)) {
      if (index >= tail) break
      output += text.slice(Math.max(from, this.#shown), index) + redactionMark('secret')
      from = end
      if (from > tail) tail = beginning(from)
    }
    output += text.slice(Math.max(from, this.#shown), tail)
    this.#held = text.slice(tail)
    this.#shown = Math.max(0, this.#shown - tail)
    return output
  }
}
