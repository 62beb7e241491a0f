import { redactShapes } from '../secret-shapes.ts'
import { redactAroundHints } from './redact-around-hints.ts'
import { beginningOfShape, certainUpTo, endOfWord } from './shape-boundaries.ts'
import type { Stage } from './stage.ts'

/** The longest word that waits for its end. */
const LONGEST_WORD = 8_192
const END_OF_TOKEN = /[^\w.~+/=-]/

/** Takes the shapes of well-known secrets out of a stream; the last word waits until it is whole. */
export class ShapeStage implements Stage {
  #held = ''
  /** So many characters of `#held` went out before; they are kept for what follows them. */
  #shown = 0
  #isHidingToken = false

  push(input: string): string {
    const text = this.#held + this.#behindToken(input)
    const cut = certainUpTo(text, LONGEST_WORD)
    if (cut === undefined) return this.#release(text)
    const output = this.#redact(text, cut)
    this.#held = text.slice(cut)
    this.#shown = Math.max(0, this.#shown - cut)
    return output
  }

  flush(): string {
    return this.#release(this.#held)
  }

  end(): string {
    return this.#redact(this.#held, this.#held.length)
  }

  /** Lets the last word go as far as it does not look like a secret, for it is too long or nothing comes for a while. */
  #release(text: string): string {
    const beginning = beginningOfShape(text, Math.max(0, text.length - LONGEST_WORD))
    if (beginning !== undefined) {
      const output = this.#redact(text, beginning)
      this.#keep(text, beginning, Math.max(beginning, this.#shown))
      return output
    }
    const output = this.#redact(text, text.length)
    // One more character would be part of the secret: so is all that follows of this word.
    this.#isHidingToken = output.endsWith(']') && redactShapes(`${text}0`) === redactShapes(text)
    this.#keep(text, this.#isHidingToken ? text.length : endOfWord(text), text.length)
    return output
  }

  /** What a secret may begin with is found again when it goes on, though it went out; with the character before it. */
  #keep(text: string, from: number, shown: number): void {
    const start = Math.max(0, from - 1)
    this.#held = from > 0 ? likenessOf(text[start]!) + text.slice(from) : text
    this.#shown = shown - start
  }

  /** The text up to an index without secrets, and without what went out before. */
  #redact(text: string, to: number): string {
    if (to <= this.#shown) return ''
    const part = text.slice(0, to)
    const output = redactAroundHints(part)
    let known = 0
    while (known < this.#shown && output[known] === part[known]) known++
    return output.slice(known)
  }

  #behindToken(input: string): string {
    if (!this.#isHidingToken) return input
    const end = input.search(END_OF_TOKEN)
    this.#isHidingToken = end === -1
    return end === -1 ? '' : input.slice(end)
  }
}

/** A character that is the same to all shapes where it stands before them, and that none of them begins with. */
function likenessOf(character: string): string {
  if (/[A-Z0-9]/.test(character)) return '0'
  return /[\w-]/.test(character) ? '_' : character
}
