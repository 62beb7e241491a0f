import { MAX_PLACES } from './edit-input.ts'

/** Options of `findRuns`. */
interface RunOptions {
  readonly from?: number
  readonly most?: number
  /** Whether overlapping runs count. Default: true. */
  readonly mayOverlap?: boolean
}

/**
 * Finds a run of lines (or of characters) in others in linear time (Knuth, Morris, Pratt): both may be chosen to take
 * long.
 */
export function findRuns<T extends string | number>(
  lines: ArrayLike<T>,
  run: ArrayLike<T>,
  { from = 0, most = 1_000, mayOverlap = true }: RunOptions = {},
): number[] {
  if (run.length === 0 || run.length > lines.length) return []
  const fallback = fallbacks(run)
  const found: number[] = []
  let matched = 0
  for (let index = from; index < lines.length && found.length < most; index++) {
    while (matched > 0 && run[matched] !== lines[index]) matched = fallback[matched - 1]!
    if (run[matched] === lines[index]) matched++
    if (matched < run.length) continue
    found.push(index - run.length + 1)
    matched = mayOverlap ? fallback[matched - 1]! : 0
  }
  return found
}

/** For each prefix of the run: the length of its longest suffix that is also its beginning. */
function fallbacks(run: ArrayLike<string | number>): Uint32Array {
  const fallback = new Uint32Array(run.length)
  let matched = 0
  for (let index = 1; index < run.length; index++) {
    while (matched > 0 && run[matched] !== run[index]) matched = fallback[matched - 1]!
    if (run[matched] === run[index]) matched++
    fallback[index] = matched
  }
  return fallback
}

/** Characters that look alike and that models confuse; each is one UTF-16 unit, so folding keeps positions. */
const ALIKE: ReadonlyMap<string, string> = new Map([
  ...alike("'", '\u2018\u2019\u201a\u201b\u2032'),
  ...alike('"', '\u201c\u201d\u201e\u201f\u2033'),
  ...alike('-', '\u2010\u2011\u2012\u2013\u2014\u2015\u2212'),
  ...alike(' ', '\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000'),
])

const LOOKS_ALIKE = new RegExp(`[${[...ALIKE.keys()].join('')}]`, 'g')

/** Replaces typographic quotes, dashes and spaces by plain ones; the length stays the same. */
export function foldCharacters(text: string): string {
  return text.replace(LOOKS_ALIKE, (character) => ALIKE.get(character)!)
}

/** A line without trailing whitespace, which includes the `\r` of a Windows line end. */
export function stripEnd(line: string): string {
  let end = line.length
  while (end > 0 && isBlank(line.charCodeAt(end - 1))) end--
  return end === line.length ? line : line.slice(0, end)
}

/** The leading whitespace of a line. */
export function indentOf(line: string): string {
  let end = 0
  while (end < line.length && isBlank(line.charCodeAt(end))) end++
  return line.slice(0, end)
}

/** The lines of a text with plain characters and without surrounding whitespace. */
export function bareLines(text: string): string[] {
  return foldCharacters(text)
    .split('\n')
    .map((line) => stripEnd(line).slice(indentOf(line).length))
}

function isBlank(unit: number): boolean {
  return unit === 0x20 || unit === 0x09 || unit === 0x0d
}

function alike(plain: string, others: string): [string, string][] {
  return [...others].map((other) => [other, plain])
}

/** A text with folded lines, and the mapping to the original positions. */
export interface FoldedText {
  readonly text: string
  /** The original position of a position in the folded text. */
  original(index: number): number
  /** The end of the original line, before its line end, for a position in the folded text. */
  originalLineEnd(index: number): number
}

/**
 * Folds a text: removes whitespace at line ends; `fold` may replace characters, but not change their number or line
 * ends.
 */
export function foldLines(source: string, fold: (text: string) => string): FoldedText {
  const lines = fold(source).split('\n')
  const folded: string[] = new Array(lines.length)
  const starts = new Uint32Array(lines.length)
  const originals = new Uint32Array(lines.length)
  let start = 0
  let original = 0
  for (const [index, line] of lines.entries()) {
    folded[index] = stripEnd(line)
    starts[index] = start
    originals[index] = original
    start += folded[index]!.length + 1
    original += line.length + 1
  }

  return {
    text: folded.join('\n'),
    original(index) {
      const line = lineAt(starts, index)
      return originals[line]! + index - starts[line]!
    },
    originalLineEnd(index) {
      const line = lineAt(starts, index)
      const text = lines[line]!
      const isWindows = line < lines.length - 1 && text.endsWith('\r')
      return originals[line]! + text.length - (isWindows ? 1 : 0)
    },
  }
}

/** The last line that begins at or before a position. */
function lineAt(starts: Uint32Array, index: number): number {
  let low = 0
  let high = starts.length - 1
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if (starts[middle]! <= index) low = middle
    else high = middle - 1
  }
  return low
}

/** Returns a function from position to 1-based line number; fastest if positions ascend. */
export function lineNumbers(text: string): (place: number) => number {
  let [at, line] = [0, 1]
  return (place) => {
    if (place < at) [at, line] = [0, 1]
    for (;;) {
      const end = text.indexOf('\n', at)
      if (end === -1 || end >= place) return line
      at = end + 1
      line++
    }
  }
}

/** Enough to report that a text is not unique. */
const MAX_COUNTED = 1_000
/** Up to this length `indexOf` is fast in any text; for longer ones it may take the product of both lengths. */
const SHORT_CHARS = 64

/**
 * Finds all places of a text. To replace all, they must not overlap; to check that it is unique, overlapping ones
 * count: `aa` occurs twice in `aaa`.
 */
export function findPlaces(text: string, wanted: string, replaceAll: boolean): number[] {
  if (wanted === '') return []
  const step = replaceAll ? wanted.length : 1
  const most = replaceAll ? MAX_PLACES + 1 : MAX_COUNTED
  if (wanted.length > SHORT_CHARS) return findRuns(units(text), units(wanted), { most, mayOverlap: !replaceAll })
  const places: number[] = []
  for (let at = text.indexOf(wanted); at !== -1 && places.length < most; at = text.indexOf(wanted, at + step)) {
    places.push(at)
  }
  return places
}

function units(text: string): Uint16Array {
  const bytes = Buffer.from(text, 'utf16le')
  return new Uint16Array(bytes.buffer, bytes.byteOffset, text.length)
}
