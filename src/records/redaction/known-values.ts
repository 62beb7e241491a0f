import { base64Cores, FoldedValues, hexWriting, plainWriting } from './folded-values.ts'
import { anyOf, redactionMark } from './text.ts'

/** Shorter values would hit ordinary text. */
const MIN_VALUE_LENGTH = 8
/** Less of a value that is cut in two tells nothing of it. */
const MIN_PIECE_LENGTH = 4

/** What stands in the place of some characters. */
type MarkOf = (hidden: string) => string

const plainMark: MarkOf = () => redactionMark('secret')

/** The values of secrets that the owner knows, in the forms they take inside of URLs, JSON, headers and dumps. */
export class KnownValues {
  /** The longest first. */
  readonly forms: readonly string[]
  /** The values where they are encoded at another offset, escaped, or broken by line breaks and unseen characters. */
  readonly folded: readonly FoldedValues[]
  readonly #pattern: RegExp
  readonly #values: readonly string[]

  private constructor(values: readonly string[], forms: Iterable<string>, isBytes: boolean) {
    this.#values = values
    this.forms = [...forms].sort((a, b) => b.length - a.length)
    this.#pattern = anyOf(this.forms)
    const bytes = values.map((value) => Buffer.from(value))
    const plain = bytes.flatMap((each) => [each.toString(), each.toString('latin1'), ...base64Cores(each)])
    const hex = bytes.map((each) => each.toString('hex')).flatMap((digits) => [digits, digits.toUpperCase()])
    const writing = plainWriting(isBytes)
    this.folded = [new FoldedValues(plain, writing), new FoldedValues(hex, hexWriting(writing))]
  }

  /** Undefined when there is none that could be told from ordinary text. */
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

  /** The same values as they stand in bytes that are read as Latin-1. */
  asLatin1(): KnownValues {
    const forms = new Set(this.forms.map((form) => Buffer.from(form).toString('latin1')))
    return new KnownValues(this.#values, forms, true)
  }

  /** Takes the values out, and what is left of one at the ends of a text that was cut somewhere before it came here. */
  hide(text: string, markOf = plainMark): string {
    return this.folded.reduce((hidden, values) => values.hide(hidden, markOf), this.hideForms(text, markOf))
  }

  /** The same where a value is whole and as it is, or in one of the common encodings. */
  hideForms(text: string, markOf = plainMark): string {
    if (text.length < MIN_VALUE_LENGTH) return text
    const output = text.replace(this.#pattern, markOf)
    return hideEnds(output, this.cutAtStart(output), this.cutAtEnd(output), markOf)
  }

  /** The same for a part of a line: also of a value that goes across parts, no piece is left. */
  hideWithin(line: string, part: string, markOf = plainMark): string {
    const forms = this.forms.filter((form) => line.includes(form))
    if (part.length >= MIN_PIECE_LENGTH && forms.some((form) => form.includes(part))) return markOf(part)
    const output = this.hide(part, markOf)
    const from = Math.max(0, ...forms.map((form) => overlap(form, output)))
    const to = output.length - Math.max(0, ...forms.map((form) => overlap(output, form)))
    return hideEnds(output, from, to, markOf)
  }

  /** The same for the end of a text whose beginning is elsewhere. */
  hideEnd(text: string): string {
    const output = text.replace(this.#pattern, redactionMark('secret'))
    const to = this.cutAtEnd(output)
    return to === output.length ? output : output.slice(0, to) + redactionMark('secret')
  }

  /** The next of them at or behind an index. */
  next(text: string, from: number): { readonly index: number; readonly end: number } | undefined {
    this.#pattern.lastIndex = from
    const match = this.#pattern.exec(text)
    return match ? { index: match.index, end: match.index + match[0].length } : undefined
  }

  /** Where the end of a value ends that the text begins with; 0 unless it does. */
  cutAtStart(text: string): number {
    const head = text.slice(0, MIN_VALUE_LENGTH)
    let from = 0
    for (const form of this.forms) {
      // Hardly ever true, and then it is worth to look for how much of it there is.
      if (!form.includes(head)) continue
      for (let length = form.length - 1; length >= MIN_VALUE_LENGTH; length--) {
        if (text.startsWith(form.slice(-length))) from = Math.max(from, length)
      }
    }
    return from
  }

  /** Where the beginning of a value begins that the text ends with; its length unless it does. */
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

/** In HTML and XML. */
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

/** How many characters the one ends with and the other begins with; 0 when they are few. */
function overlap(before: string, after: string): number {
  let length = Math.min(before.length, after.length)
  while (length >= MIN_PIECE_LENGTH && !after.startsWith(before.slice(-length))) length--
  return length >= MIN_PIECE_LENGTH ? length : 0
}
