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
