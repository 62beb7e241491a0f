import type { FoldedValues } from './folded-values.ts'
import { KEY_BLOCK, KEY_PIECES } from './key-block.ts'
import type { KnownValues } from './known-values.ts'
import { redactionMark, SkipSearch } from './text.ts'

/** One stage of a stream: removes something from a text that comes piece by piece. */
export interface Stage {
  /** Returns the text that is certain now; what may be the beginning of a secret is held. */
  push(text: string): string
  /** After a pause in the stream: returns what is held unless it looks like a secret. */
  flush(): string
  /** Ends the stream: returns the rest. */
  end(): string
}

/** So few characters reveal nothing of a value, and a prompt may end like this. */
const MAX_SHOWN = 3

/** Removes known values from a stream; the beginning of one at its end is held. */
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
    // Much faster than matching them all, and hardly any output contains one.
    return from > 0 || this.#search.isIn(text) ? this.#known.next(text, from) : undefined
  }

  /** Returns the first index from which the rest of the text is the beginning of a value, or the length of the text. */
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

const MAX_MARK_LENGTH = 80
const BEGINNING_OF_BEGIN = /-{1,5}(?:B|BE|BEG|BEGI|BEGIN(?: [A-Z0-9 ]{0,60}-{0,4})?)?$/
/** The end of one mark can be the beginning of another. */
const DASHES = 5

/** Removes private keys of many lines from a stream, as `KEY_BLOCK` does from a text. */
export class KeyBlockStage implements Stage {
  #held = ''
  #shown = 0
  /** Whether the stream is in a key, after one of its words: more of that word may follow. */
  #isInside = false
  /** Whether the held text begins like a key, and may be one. */
  #isUndecided = false

  push(input: string): string {
    let text = this.#held + input
    let output = ''
    this.#isUndecided = false
    for (;;) {
      if (this.#isInside) {
        const rest = behindBody(text)
        this.#isInside = rest.isInside
        text = rest.text
        if (rest.isInside) {
          this.#held = text
          return output
        }
      }
      // Ten times faster than the pattern, and nearly always all there is to do.
      const begin = text.includes('PRIVATE KEY') ? KEY_PIECES.begin.exec(text) : null
      if (!begin) return output + this.#hold(text)
      const behind = text.slice(begin.index + begin[0].length)
      const word = KEY_PIECES.firstWord.exec(behind)
      const key = word ?? KEY_PIECES.withoutBody.exec(behind)
      if (key) {
        output += text.slice(this.#shown, begin.index) + redactionMark('private-key')
        this.#shown = 0
        this.#isInside = word !== null
        text = behind.slice(key[0].length)
        continue
      }
      this.#isUndecided = KEY_PIECES.mayBegin.test(behind)
      const done = this.#isUndecided ? begin.index : text.length - behind.length - DASHES
      output += text.slice(this.#shown, done)
      this.#shown = Math.max(0, this.#shown - done)
      text = text.slice(done)
      if (!this.#isUndecided) continue
      this.#held = text
      return output
    }
  }

  /** The beginning of a key is not secret. */
  flush(): string {
    return this.#isInside || this.#isUndecided ? '' : this.#release()
  }

  end(): string {
    if (this.#isInside) return this.#held.replace(KEY_PIECES.last, '')
    const output = this.#isUndecided ? this.#held.replace(KEY_BLOCK, redactionMark('private-key')) : this.#held
    return output === this.#held ? this.#release() : output
  }

  #release(): string {
    const output = this.#held.slice(this.#shown)
    this.#shown = this.#held.length
    return output
  }

  #hold(text: string): string {
    const window = Math.max(0, text.length - MAX_MARK_LENGTH)
    const tail = BEGINNING_OF_BEGIN.exec(text.slice(window))
    const from = tail ? window + tail.index : text.length
    const output = text.slice(this.#shown, from)
    this.#held = text.slice(from)
    this.#shown = Math.max(0, this.#shown - from)
    return output
  }
}

/** Returns what follows the words and the end of a key; still inside while more text could be more of it. */
function behindBody(text: string): { readonly text: string; readonly isInside: boolean } {
  const { moreOfWord, nextWord, mayGoOn, end } = KEY_PIECES
  nextWord.lastIndex = moreOfWord.exec(text)![0].length
  let index = nextWord.lastIndex
  while (nextWord.test(text)) index = nextWord.lastIndex
  const rest = text.slice(index)
  if (mayGoOn.test(rest)) return { text: rest, isInside: true }
  return { text: rest.slice(end.exec(rest)?.[0].length ?? 0), isInside: false }
}

/**
 * Removes encoded or broken values from a stream; the beginning of one at its end is held.
 */
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
