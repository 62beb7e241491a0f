import type { KnownValues } from '../known-values.ts'
import { redactionMark } from '../redaction-mark.ts'
import { SkipSearch } from './skip-search.ts'
import type { Stage } from './stage.ts'

/** So few characters tell nothing of a value, and a prompt may end like this. */
const MAX_SHOWN = 3

/** Takes known values out of a stream; what it ends with may be the beginning of one, and waits. */
export class KnownStage implements Stage {
  readonly #known: KnownValues
  readonly #search: SkipSearch
  #held = ''
  /** So many characters of `#held` went out before. */
  #shown = 0
  #isBegun = false

  constructor(known: KnownValues) {
    this.#known = known
    this.#search = new SkipSearch(known.forms)
  }

  push(input: string): string {
    const text = this.#held + input
    if (this.#isBegun || text === '') return this.#settle(text)
    // A stream may begin in the middle of a value, as with `tail -c`.
    if (this.#known.forms.some((form) => form.includes(text))) {
      this.#held = text
      return ''
    }
    this.#isBegun = true
    const cut = this.#known.cutAtStart(text)
    if (cut === 0) return this.#settle(text)
    this.#shown = 0
    return redactionMark('secret') + this.#settle(text.slice(cut))
  }

  flush(): string {
    if (this.#held.length > MAX_SHOWN) return ''
    const output = this.#held.slice(this.#shown)
    this.#shown = this.#held.length
    return output
  }

  end(): string {
    const output = this.#isBegun ? this.#known.hideEnd(this.#held) : this.#known.hideForms(this.#held)
    return output === this.#held ? output.slice(this.#shown) : output
  }

  #settle(text: string): string {
    let from = 0
    let tail = this.#beginningOfValue(text, 0)
    let output = ''
    for (let match = this.#next(text, from); match && match.index < tail; match = this.#next(text, from)) {
      output += text.slice(Math.max(from, this.#shown), match.index) + redactionMark('secret')
      from = match.end
      if (from > tail) tail = this.#beginningOfValue(text, from)
    }
    output += text.slice(Math.max(from, this.#shown), tail)
    this.#held = text.slice(tail)
    this.#shown = Math.max(0, this.#shown - tail)
    return output
  }

  #next(text: string, from: number): { readonly index: number; readonly end: number } | undefined {
    // Much faster than to match them all, and hardly any output holds one.
    return from > 0 || this.#search.isIn(text) ? this.#known.next(text, from) : undefined
  }

  /** The first index from which on the text is the beginning of a value; its length when it ends otherwise. */
  #beginningOfValue(text: string, from: number): number {
    let start = text.length
    for (const form of this.#known.forms) {
      const first = form[0]!
      let at = text.indexOf(first, Math.max(from, text.length - form.length + 1))
      while (at !== -1 && at < start && !form.startsWith(text.slice(at))) at = text.indexOf(first, at + 1)
      if (at !== -1) start = Math.min(start, at)
    }
    return start
  }
}
