import { basename, dirname, join, relative } from 'node:path'

/** Capitalizes the first letter: "Deletes files". */
export function asSentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`
}

/** Adds a full stop to a text that does not end with a punctuation mark. */
export function withStop(text: string): string {
  return /[.!?…:]$/.test(text) ? text : `${text}.`
}

/** Half of a UTF-16 surrogate pair on its own, which UTF-8 cannot encode. */
export const LONE_SURROGATE = /\p{Surrogate}/u

/** The byte order mark at the beginning of a text. */
interface ByteOrderMark {
  readonly encoding: 'utf-8' | 'utf-16le' | 'utf-16be'
  /** Bytes of the mark. */
  readonly length: number
}

/** Returns the byte order mark that these bytes begin with, if any. */
export function byteOrderMark(bytes: Uint8Array): ByteOrderMark | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return { encoding: 'utf-8', length: 3 }
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return { encoding: 'utf-16le', length: 2 }
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return { encoding: 'utf-16be', length: 2 }
  return undefined
}

/** Milliseconds of each unit of time. */
export const TIME_UNITS: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['min', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
])

const AMOUNT = /^(\d{1,16}(?:\.\d{1,6})?) ?([A-Za-z]*)$/

/**
 * Parses an amount with a unit, such as `90s`, to a whole number of at least 1. Returns `undefined` for other texts.
 */
export function parseAmount(text: string, units: ReadonlyMap<string, number>): number | undefined {
  const [, count, unit = ''] = AMOUNT.exec(text) ?? []
  const amount = Math.round(Number(count) * (units.get(unit) ?? Number.NaN))
  return Number.isSafeInteger(amount) && amount >= 1 ? amount : undefined
}

/** Splits a stream of bytes into lines of limited length. Text after the last line break is not a line. */
export class LineSplitter {
  readonly #maxBytes: number
  #waiting: Buffer[] = []
  #waitingBytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Returns the lines that this chunk completes. Throws a RangeError if a line is too long. */
  push(chunk: Buffer): string[] {
    const lines: string[] = []
    let start = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      lines.push(this.#line(chunk.subarray(start, end)))
      start = end + 1
    }
    this.#keep(chunk.subarray(start))
    return lines
  }

  #line(end: Buffer): string {
    const line = (this.#waitingBytes === 0 && end.length <= this.#maxBytes ? end : this.#joined(end)).toString('utf8')
    return line.endsWith('\r') ? line.slice(0, -1) : line
  }

  #joined(end: Buffer): Buffer {
    this.#keep(end)
    const line = Buffer.concat(this.#waiting)
    this.#waiting = []
    this.#waitingBytes = 0
    return line
  }

  #keep(part: Buffer): void {
    if (part.length === 0) return
    this.#waitingBytes += part.length
    if (this.#waitingBytes > this.#maxBytes) {
      this.#waiting = []
      throw new RangeError(`a line has over ${this.#maxBytes} bytes`)
    }
    this.#waiting.push(part)
  }
}

/** Reads the body of a response as text. Throws the error that `tooLarge` makes if it has more than `maxBytes`. */
export async function readBody(
  { body }: Pick<Response, 'body'>,
  maxBytes: number,
  tooLarge: () => Error,
): Promise<string> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of (body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += piece.length
    if (bytes > maxBytes) throw tooLarge()
    pieces.push(piece)
  }
  return new TextDecoder().decode(Buffer.concat(pieces))
}

/** `//`, `/./`, `/../` or a slash at the end: such a path cannot be compared as text. */
const NOT_NORMALIZED = /\/\.{0,2}(?:\/|$)/

/** Whether an absolute path is this folder or below it. Links are not resolved. */
export function isWithin(folder: string, path: string): boolean {
  if (!NOT_NORMALIZED.test(folder) && !NOT_NORMALIZED.test(path)) {
    return path.startsWith(folder) && (path.length === folder.length || path[folder.length] === '/')
  }
  const route = relative(folder, path)
  return route === '' || !(route === '..' || route.startsWith('../'))
}

/**
 * Returns the last two segments of a path: enough for a person to know the file, without telling a model where it is.
 */
export function shortPath(path: string): string {
  return join(basename(dirname(path)), basename(path))
}

/** Returns the code that the system or Node gave an error, such as `ENOENT`, or `UNKNOWN` for an error without one. */
export function errnoOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : 'UNKNOWN'
}

/** The version of the package; a test keeps it equal to package.json. */
export const VERSION = '0.1.0'

/** A line of a source, with its number from 1. */
interface NumberedLine {
  readonly number: number
  readonly isMarked: boolean
  /** The line with its number and mark: `▶ 12  const a = 1`. */
  readonly text: string
}

/** Numbers the lines of a source as JavaScript counts them, and marks some of them. */
export function numberLines(source: string, marked: ReadonlySet<number>): NumberedLine[] {
  const lines = source.split(/\r\n|[\n\r\u2028\u2029]/)
  const width = String(lines.length).length
  return lines.map((line, index) => {
    const number = index + 1
    const isMarked = marked.has(number)
    const place = `${isMarked ? '▶' : ' '} ${String(number).padStart(width)}`
    return { number, isMarked, text: line === '' ? place : `${place}  ${line}` }
  })
}

// Characters that no reader sees: controls other than tab and line ends, fillers, zero-width, tags, bidi marks, annotations.
const INVISIBLE = '[^\\P{Cc}\\t\\n\\r]|\\p{Default_Ignorable_Code_Point}|[\\ufff9-\\ufffb]|\\p{Cs}'

// Exceptions that do have a visible effect: joiners inside one emoji, and joiners that shape the letters of some scripts.
const PICTURE = '\\p{Extended_Pictographic}'
const LETTER = '[[\\p{L}\\p{M}]--\\p{Script=Latin}]'
const SHAPING = [
  `(?<=${PICTURE}\\p{Emoji_Modifier}?\\ufe0f?)\\u200d(?=${PICTURE})`,
  `(?<=${PICTURE})\\ufe0f`,
  '(?<=[0-9#*])\\ufe0f(?=\\u20e3)',
  `(?<=${LETTER})[\\u200c\\u200d](?=${LETTER})`,
]
const PATTERN = new RegExp(`(?<shaping>${SHAPING.join('|')})|${INVISIBLE}`, 'gv')

/** Refused in addition in definitions: other format characters, line ends that no editor shows, the empty Braille pattern. */
const OTHERS = /(?!\p{Default_Ignorable_Code_Point})\p{Cf}|\p{Zl}|\p{Zp}|\u{2800}/gu

/** Removes characters that no reader sees and that can hide instructions; `hidden` counts the removed characters. */
export function visibleText(text: string): { readonly text: string; readonly hidden: number } {
  let hidden = 0
  const visible = text.replace(PATTERN, (character: string, shaping: string | undefined) => {
    if (shaping !== undefined) return character
    hidden++
    return ''
  })
  return { text: visible, hidden }
}

/** Whether a text contains characters that a model reads and a person does not see. */
export function holdsHidden(text: string): boolean {
  return visibleText(text).hidden > 0 || text.search(OTHERS) !== -1
}

/** The text without the characters that `holdsHidden` finds. */
export function withoutHidden(text: string): string {
  return visibleText(text).text.replace(OTHERS, '')
}
