import { KEY_BLOCK, KEY_PIECES } from '../key-block.ts'
import { redactionMark } from '../redaction-mark.ts'
import type { Stage } from './stage.ts'

const MAX_MARK_LENGTH = 80
const BEGINNING_OF_BEGIN = /-{1,5}(?:B|BE|BEG|BEGI|BEGIN(?: [A-Z0-9 ]{0,60}-{0,4})?)?$/
/** How a mark ends, another one can begin. */
const DASHES = 5

/** Takes private keys of many lines out of a stream, as `KEY_BLOCK` does out of a text. */
export class KeyBlockStage implements Stage {
  #held = ''
  #shown = 0
  /** Within a key, behind one of its words: more of that word may follow. */
  #isInside = false
  /** What is held begins as a key does, and may be one. */
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

  /** How a key begins is no secret. */
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

/** What follows the words of a key and its end; inside as long as more text could be more of it. */
function behindBody(text: string): { readonly text: string; readonly isInside: boolean } {
  const { moreOfWord, nextWord, mayGoOn, end } = KEY_PIECES
  nextWord.lastIndex = moreOfWord.exec(text)![0].length
  let index = nextWord.lastIndex
  while (nextWord.test(text)) index = nextWord.lastIndex
  const rest = text.slice(index)
  if (mayGoOn.test(rest)) return { text: rest, isInside: true }
  return { text: rest.slice(end.exec(rest)?.[0].length ?? 0), isInside: false }
}
