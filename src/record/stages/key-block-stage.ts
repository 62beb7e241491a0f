import { redactionMark } from '../redaction-mark.ts'
import type { Stage } from './stage.ts'

const BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/
const END = /-----END [A-Z0-9 ]{0,60}-----/
const LONGEST_MARK = 80
const BEGINNING_OF_BEGIN = /-{1,5}(?:B|BE|BEG|BEGI|BEGIN(?: [A-Z0-9 ]{0,60}-{0,4})?)?$/

/** Takes private keys of many lines out of a stream. Without an end, all that follows is taken for the key. */
export class KeyBlockStage implements Stage {
  #held = ''
  #shown = 0
  #isInside = false

  push(input: string): string {
    let text = this.#held + input
    let output = ''
    for (;;) {
      const rest: string | undefined = this.#isInside ? behindEnd(text) : text
      if (rest === undefined) {
        this.#held = text.slice(-LONGEST_MARK)
        return output
      }
      text = rest
      this.#isInside = false
      // Ten times faster than the pattern, and nearly always all there is to do.
      const begin = text.includes('PRIVATE KEY') ? BEGIN.exec(text) : null
      if (!begin) return output + this.#hold(text)
      output += text.slice(this.#shown, begin.index) + redactionMark('private-key')
      this.#shown = 0
      this.#isInside = true
      text = text.slice(begin.index + begin[0].length)
    }
  }

  /** How a key begins is no secret. */
  flush(): string {
    if (this.#isInside) return ''
    const output = this.#held.slice(this.#shown)
    this.#shown = this.#held.length
    return output
  }

  end(): string {
    return this.flush()
  }

  #hold(text: string): string {
    const window = Math.max(0, text.length - LONGEST_MARK)
    const tail = BEGINNING_OF_BEGIN.exec(text.slice(window))
    const from = tail ? window + tail.index : text.length
    const output = text.slice(this.#shown, from)
    this.#held = text.slice(from)
    this.#shown = Math.max(0, this.#shown - from)
    return output
  }
}

function behindEnd(text: string): string | undefined {
  const end = END.exec(text)
  return end ? text.slice(end.index + end[0].length) : undefined
}
