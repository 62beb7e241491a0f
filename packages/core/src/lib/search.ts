// What searches have in common: the words of a text, the order of what was found, and the likeness of vectors.

/** Letters, digits and combining marks. */
const WORD = /[\p{L}\p{N}\p{M}]+/gu
/** Scripts without spaces between words. */
const UNSPACED = String.raw`\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}`
const HAS_UNSPACED = new RegExp(`[${UNSPACED}]`, 'u')
const PIECE = new RegExp(`[${UNSPACED}]+|[^${UNSPACED}]+`, 'gu')
/** Latin accents; marks of other scripts are significant. */
const ACCENTS = /[\u0300-\u036f]/g
const IS_PLAIN = /^[\n\r\t -~]*$/

/** Stop words; searches use them only if a query has no other words. */
export const COMMON_WORDS: ReadonlySet<string> = new Set(
  `a an and are as at be by can did do does for from had has have how i in is it its me my of on or our that the their
  there this to was we were what when where which who will with you your`.split(/\s+/),
)

/** Removes differences of case, width and accents. */
export function foldLetters(text: string): string {
  if (IS_PLAIN.test(text)) return text.toLowerCase()
  return text.normalize('NFKD').replace(ACCENTS, '').normalize('NFC').toLowerCase()
}

/** The words of a folded text in order. A run of a script without spaces is one piece: see `isUnspaced`. */
export function* wordPieces(folded: string): Generator<string> {
  for (const [run] of folded.matchAll(WORD)) {
    if (!HAS_UNSPACED.test(run)) yield run
    else for (const [piece] of run.matchAll(PIECE)) yield piece
  }
}

/** Whether a piece belongs to a script without spaces, so that its characters and pairs of them are searched. */
export function isUnspaced(piece: string): boolean {
  return HAS_UNSPACED.test(piece)
}

/** Removes an English plural by Harman's rules; other words stay as they are. */
export function withoutPlural(word: string): string {
  if (word.length < 4 || !word.endsWith('s') || !/^[a-z]+$/.test(word)) return word
  if (/[^ae]ies$/.test(word)) return `${word.slice(0, -3)}y`
  return /[^us]s$/.test(word) ? word.slice(0, -1) : word
}

/** The usual constant of reciprocal rank fusion: the first places of each list stand out, and no list decides alone. */
const K = 60
const MAX_NUMBERS = 8_192

/** Merges ranked lists by reciprocal rank fusion: items near the top of several lists come first. */
export function mergeRanks<T>(
  lists: readonly (readonly T[])[],
  idOf: (item: T) => string | number,
): readonly [T, number][] {
  const scores = new Map<string | number, [T, number]>()
  for (const list of lists) {
    for (const [place, item] of list.entries()) {
      const [first, score] = scores.get(idOf(item)) ?? [item, 0]
      scores.set(idOf(item), [first, score + 1 / (K + place + 1)])
    }
  }
  return [...scores.values()].sort(([, a], [, b]) => b - a)
}

/** Scales a vector to length 1, so that the dot product of two is their cosine similarity. Throws if it is none. */
export function toUnitVector(numbers: unknown): Float32Array {
  const isList = Array.isArray(numbers) || numbers instanceof Float32Array
  if (!isList || numbers.length === 0 || numbers.length > MAX_NUMBERS)
    throw new TypeError(`embed did not return a vector of 1 to ${MAX_NUMBERS} numbers`)
  const vector = Float32Array.from(numbers)
  let squares = 0
  for (const value of vector) squares += value * value
  if (!Number.isFinite(squares) || squares === 0)
    throw new TypeError('embed returned a vector of zeros or of numbers that are not finite')
  const length = Math.sqrt(squares)
  return vector.map((value) => value / length)
}

/** The similarity of two vectors of length 1, from -1 to 1; 0 if they have different dimensions. */
export function likeness(a: Float32Array, b: Float32Array): number {
  if (a.length !== b.length) return 0
  let sum = 0
  for (let place = 0; place < a.length; place++) sum += a[place]! * b[place]!
  return sum
}
