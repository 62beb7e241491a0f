import { base64Cores, FoldedValues, hexWriting, plainWriting } from './folded-values.ts'
import { anyOf, redactionMark } from './text.ts'

/** Shorter values would match ordinary text. */
const MIN_VALUE_LENGTH = 8
/** A shorter piece of a value reveals nothing. */
const MIN_PIECE_LENGTH = 4

/** Returns the mark in place of hidden characters. */
type MarkOf = (hidden: string) => string

const plainMark: MarkOf = () => redactionMark('secret')

/** The values of secrets that the owner named, in the forms that they have in URLs, JSON, headers and dumps. */
export class KnownValues {
  /** All forms, the longest first. */
  readonly forms: readonly string[]
  /** Finds values that are encoded at another offset, escaped, or broken by line breaks and invisible characters. */
  readonly folded: readonly FoldedValues[]
  readonly #pattern: RegExp
  readonly #values: readonly string[]

  private constructor(values: readonly string[], forms: Iterable<string>, isBytes: boolean) {
    this.#values = values
    this.forms = [...forms].sort((a, b) => b.length - a.length)
    this.#pattern = anyOf(this.forms)
    const bytes = values.map((value) => Buffer.from(value))
    // Programs of Windows encode text in UTF-16; read as text it is found by its characters.
    const wide = values.map((value) => Buffer.from(value, 'utf16le'))
    const encoded = [...bytes, ...wide, ...wide.map((each) => Buffer.from(each).swap16())]
    const plain = [
      ...bytes.flatMap((each) => [each.toString(), each.toString('latin1')]),
      ...encoded.flatMap(base64Cores),
    ]
    const hex = encoded.map((each) => each.toString('hex')).flatMap((digits) => [digits, digits.toUpperCase()])
    const writing = plainWriting(isBytes)
    this.folded = [new FoldedValues(plain, writing), new FoldedValues(hex, hexWriting(writing))]
  }

  /** Returns `undefined` if every value is too short to distinguish from ordinary text. */
  static of(values: readonly string[]): KnownValues | undefined {
    const long = values.filter(({ length }) => length >= MIN_VALUE_LENGTH)
    const forms = new Set<string>()
    for (const value of long) {
      const bytes = Buffer.from(value)
      const json = JSON.stringify(value).slice(1, -1)
      const base64 = bytes.toString('base64')
      for (const form of [value, inHtml(value), encodeURIComponent(bytes.toString())]) forms.add(form)
      // Some programs, such as PHP, write a slash in JSON as \/.
      for (const form of [json, base64]) forms.add(form).add(form.replaceAll('/', '\\/'))
    }
    return forms.size === 0 ? undefined : new KnownValues(long, forms, false)
  }

  /** Returns the same values for bytes that are read as Latin-1. */
  asLatin1(): KnownValues {
    const forms = new Set(this.forms.map((form) => Buffer.from(form).toString('latin1')))
    return new KnownValues(this.#values, forms, true)
  }

  /** Hides the values, and the rest of one at either end of a text that was cut before. */
  hide(text: string, markOf = plainMark): string {
    return this.folded.reduce((hidden, values) => values.hide(hidden, markOf), this.hideForms(text, markOf))
  }

  /** Like `hide`, only for values as they are or in one of the common encodings. */
  hideForms(text: string, markOf = plainMark): string {
    if (text.length < MIN_VALUE_LENGTH) return text
    const output = text.replace(this.#pattern, markOf)
    return hideEnds(output, this.cutAtStart(output), this.cutAtEnd(output), markOf)
  }

  /** Like `hide`, for a part of a line: also hides the pieces of a value that spans several parts. */
  hideWithin(line: string, part: string, markOf = plainMark): string {
    const forms = this.forms.filter((form) => line.includes(form))
    if (part.length >= MIN_PIECE_LENGTH && forms.some((form) => form.includes(part))) return markOf(part)
    const output = this.hide(part, markOf)
    const from = Math.max(0, ...forms.map((form) => overlap(form, output)))
    const to = output.length - Math.max(0, ...forms.map((form) => overlap(output, form)))
    return hideEnds(output, from, to, markOf)
  }

  /** Like `hide`, for the end of a text whose beginning is elsewhere. */
  hideEnd(text: string): string {
    const output = text.replace(this.#pattern, redactionMark('secret'))
    const to = this.cutAtEnd(output)
    return to === output.length ? output : output.slice(0, to) + redactionMark('secret')
  }

  /** Finds the next value at or after an index. */
  next(text: string, from: number): { readonly index: number; readonly end: number } | undefined {
    this.#pattern.lastIndex = from
    const match = this.#pattern.exec(text)
    return match ? { index: match.index, end: match.index + match[0].length } : undefined
  }

  /** Returns the length of the end of a value that the text begins with, or 0. */
  cutAtStart(text: string): number {
    const head = text.slice(0, MIN_VALUE_LENGTH)
    let from = 0
    for (const form of this.forms) {
      // Rarely true; then it is worth finding out how much of it there is.
      if (!form.includes(head)) continue
      for (let length = form.length - 1; length >= MIN_VALUE_LENGTH; length--) {
        if (text.startsWith(form.slice(-length))) from = Math.max(from, length)
      }
    }
    return from
  }

  /** Returns the index of the beginning of a value that the text ends with, or the length of the text. */
  cutAtEnd(text: string): number {
    const tail = text.slice(-MIN_VALUE_LENGTH)
    let to = text.length
    for (const form of this.forms) {
      if (!form.includes(tail)) continue
      for (let length = form.length - 1; length >= MIN_VALUE_LENGTH; length--) {
        if (text.endsWith(form.slice(0, length))) to = Math.min(to, text.length - length)
      }
    }
    return to
  }
}

/** Escapes a value for HTML and XML. */
function inHtml(value: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
  return value.replace(/[&<>"']/g, (character) => entities[character]!)
}

function hideEnds(text: string, from: number, to: number, markOf: MarkOf): string {
  if (from === 0 && to === text.length) return text
  const [start, end] = [text.slice(0, from), text.slice(Math.max(from, to))]
  const middle = text.slice(from, Math.max(from, to))
  return `${start === '' ? '' : markOf(start)}${middle}${end === '' ? '' : markOf(end)}`
}

/** Returns how many characters one text ends with and the other begins with; 0 if they are few. */
function overlap(before: string, after: string): number {
  let length = Math.min(before.length, after.length)
  while (length >= MIN_PIECE_LENGTH && !after.startsWith(before.slice(-length))) length--
  return length >= MIN_PIECE_LENGTH ? length : 0
}
