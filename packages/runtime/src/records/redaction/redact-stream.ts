import type { KnownValues } from './known-values.ts'
import { MAX_QUERY_NAME_LENGTH, QUERY_NAME, redactShapes, SECRET_HINT, WORD_BEGINNING } from './secret-shapes.ts'
import { FoldedStage, KeyBlockStage, KnownStage, type Stage } from './stages.ts'

/**
 * Removes secrets from bytes that come piece by piece, wherever the pieces are cut: together they are what redaction of
 * the whole would be. Bytes are read as Latin-1, so that those that are not text pass unchanged. What it returns may be
 * the same bytes.
 */
export class RedactStream {
  readonly #stages: readonly Stage[]

  constructor(known: KnownValues | undefined) {
    const hiding = known ? [new KnownStage(known), ...known.folded.map((values) => new FoldedStage(values))] : []
    this.#stages = [...hiding, new KeyBlockStage(), new ShapeStage()]
  }

  /** Returns what is certain now. The last word is held until its end, because it may be the beginning of a secret. */
  push(bytes: Uint8Array): Uint8Array {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const input = buffer.toString('latin1')
    let text = input
    for (const stage of this.#stages) text = stage.push(text)
    return text === input ? buffer : Buffer.from(text, 'latin1')
  }

  /**
   * Returns held text that does not look like a secret, after a pause in the stream: a prompt, a row of dots. At most
   * the first three characters of a known value are released, and of a shape only what is not secret yet: `sk`,
   * `-----BEGIN`.
   */
  flush(): Uint8Array {
    return this.#drain((stage) => stage.flush())
  }

  /** Returns the rest; the beginning of a known value that was cut off is hidden. */
  end(): Uint8Array {
    return this.#drain((stage) => stage.end())
  }

  #drain(last: (stage: Stage) => string): Uint8Array {
    let text = ''
    for (const stage of this.#stages) text = stage.push(text) + last(stage)
    return Buffer.from(text, 'latin1')
  }
}

const MAX_WORD_BEGINNING_LENGTH = Math.max(11, MAX_QUERY_NAME_LENGTH)

const CREDENTIALS = /[Bb](?:earer|EARER|asic)[\t-\r ]{1,8}(?:[\w.~+/-]*={0,2})$/g

const BEFORE_CREDENTIALS = /[Bb](?:earer|EARER|asic)[\t-\r ]{1,8}$/

const MAX_BEFORE_CREDENTIALS_LENGTH = 14

const URL = /:\/\/[^\t-\r /@:"'<>]*(?::[^\t-\r /@"'<>]*)?$/g

const QUERY = new RegExp(String.raw`${QUERY_NAME}=[^\t-\r "'<>&#]*$`, 'g')

/** Blanks of ASCII, quotes and angle brackets. */
const SEPARATORS = tableOf(/[\t-\r "'<>]/)

const TOKEN_CHARACTERS = tableOf(/[\w.-]/)

const WORD = new RegExp(WORD_BEGINNING, 'g')

const HINT = new RegExp(SECRET_HINT, 'g')

/** Behind a hint: blanks, and the word that follows or that the hint is in. */
const REST = /[\t-\r "'<>]*[^\t-\r "'<>]*/y

/** With more of them, it takes less time to look at all that is left as one. */
const MAX_PLACES = 64

/** The longest word that waits for its end. */
const MAX_WORD_LENGTH = 8_192
const END_OF_TOKEN = /[^\w.~+/=-]/

/** Takes the shapes of well-known secrets out of a stream; the last word waits until it is whole. */
export class ShapeStage implements Stage {
  #held = ''
  /** So many characters of `#held` went out before; they are kept for what follows them. */
  #shown = 0
  #isHidingToken = false

  push(input: string): string {
    const text = this.#held + this.#behindToken(input)
    const cut = certainUpTo(text, MAX_WORD_LENGTH)
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

  /**
   * Lets the last word go as far as it does not look like a secret, for it is too long or nothing comes for a while.
   */
  #release(text: string): string {
    const beginning = beginningOfShape(text, Math.max(0, text.length - MAX_WORD_LENGTH))
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

  /**
   * What a secret may begin with is found again when it continues, though it went out; with the character before it.
   */
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

/**
 * Takes shapes out of a text of Latin-1 by looking closer only where something hints at one: the same text where
 * nothing does.
 */
export function redactAroundHints(text: string): string {
  let output = ''
  let done = 0
  HINT.lastIndex = 0
  for (let places = 1, hint = HINT.exec(text); hint; places++) {
    const start = Math.max(done, afterSeparator(text, hint.index))
    let end = text.length
    if (places === MAX_PLACES) hint = null
    else ({ end, hint } = endOfPlace(text))
    output += text.slice(done, start) + redactPlace(text.slice(start, end))
    done = end
  }
  return done === 0 ? text : output + text.slice(done)
}

/** Where the word of the last hint ends, with those of all hints within; and the first hint behind it. */
function endOfPlace(text: string): { end: number; hint: RegExpExecArray | null } {
  let end = HINT.lastIndex
  for (;;) {
    // A hint that ends before is in the same word; one that ends here, such as `Bearer `, is about the next.
    if (HINT.lastIndex >= end) {
      REST.lastIndex = HINT.lastIndex
      REST.exec(text)
      end = REST.lastIndex
    }
    const hint = HINT.exec(text)
    if (!hint || hint.index >= end) return { end, hint }
  }
}

/** In Latin-1 the byte A0, a part of many letters, would be a blank: a letter stands in for it. */
function redactPlace(text: string): string {
  if (!text.includes('\xa0')) return redactShapes(text)
  return redactShapes(text.replaceAll('\xa0', '\u01a0')).replaceAll('\u01a0', '\xa0')
}

/**
 * Up to where nothing that follows can change what is a secret. No shape reaches over a blank, quote or angle bracket,
 * but for the blanks behind `Bearer` and `Basic`. Undefined when there is none of them in so many last characters.
 */
export function certainUpTo(text: string, maxWordLength: number): number | undefined {
  const least = text.length - maxWordLength
  let cut = afterSeparator(text, text.length, least)
  for (;;) {
    if (cut < least || (cut === 0 && text.length > maxWordLength)) return undefined
    const before = BEFORE_CREDENTIALS.exec(text.slice(Math.max(0, cut - MAX_BEFORE_CREDENTIALS_LENGTH), cut))
    if (!before) return cut
    cut = afterSeparator(text, cut - before[0].length, least)
  }
}

/** Where the word begins that an index is in. */
export function afterSeparator(text: string, index: number, least = 0): number {
  let start = index
  while (start > 0 && start >= least && SEPARATORS[text.charCodeAt(start - 1)] === 0) start--
  return start
}

/**
 * Where a secret seems to begin that the text ends with, or ends in the middle of; looks no further back than `least`.
 */
export function beginningOfShape(text: string, least: number): number | undefined {
  const found = [CREDENTIALS, URL, QUERY].map((pattern) => indexFrom(pattern, text, least))
  found.push(indexFrom(WORD, text, Math.max(least, startOfTokenCharacters(text, least))))
  const first = Math.min(...found.filter((index) => index !== -1))
  return first === Number.POSITIVE_INFINITY ? undefined : first
}

/** Where the part of the last word begins that could be the first characters of a secret: `gith`, `:/`. */
export function endOfWord(text: string): number {
  if (text.endsWith(':')) return text.length - 1
  if (text.endsWith(':/')) return text.length - 2
  return startOfTokenCharacters(text, text.length - MAX_WORD_BEGINNING_LENGTH)
}

function startOfTokenCharacters(text: string, least: number): number {
  let start = text.length
  while (start > 0 && start > least && TOKEN_CHARACTERS[text.charCodeAt(start - 1)] === 1) start--
  return start
}

function indexFrom(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from
  return pattern.exec(text)?.index ?? -1
}

/** A table of the bytes that a pattern matches: these loops see every byte of a long word. */
function tableOf(pattern: RegExp): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, code) => (pattern.test(String.fromCharCode(code)) ? 1 : 0))
}
