import { ToolError } from '../../core/index.ts'

/** Letters, digits and the marks that belong to them. */
const WORD = /[\p{L}\p{N}\p{M}]+/gu
/** Scripts that put no blanks between words. */
const UNSPACED = String.raw`\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}`
const HAS_UNSPACED = new RegExp(`[${UNSPACED}]`, 'u')
const PIECE = new RegExp(`[${UNSPACED}]+|[^${UNSPACED}]+`, 'gu')
/** Accents and the like; the marks of other scripts are part of what is written. */
const ACCENTS = /[\u0300-\u036f]/g
const IS_PLAIN = /^[\n\r\t -~]*$/
const MAX_WORD_LENGTH = 40
const MAX_QUERY_LENGTH = 2_000
const MAX_WORDS = 32

/** Words that say nothing of what a note is about; looked for only where there is no other. */
const COMMON: ReadonlySet<string> = new Set(
  `a an and are as at be by can did do does for from had has have how i in is it its me my of on or our that the their
  there this to was we were what when where which who will with you your`.split(/\s+/),
)

/** Every word of a text, as often as it is there; of scripts without blanks each character and each pair of neighbours. */
export function* textWords(text: string): Generator<string> {
  for (const piece of pieces(text)) {
    if (!HAS_UNSPACED.test(piece)) {
      yield stem(piece)
      continue
    }
    const characters = [...piece]
    yield* characters
    for (let place = 1; place < characters.length; place++) yield `${characters[place - 1]}${characters[place]}`
  }
}

/** The words that a search looks for, each once; of scripts without blanks the pairs, which tell more than characters. */
export function queryWords(text: string): readonly string[] {
  if (text.length > MAX_QUERY_LENGTH)
    throw new ToolError(
      'INPUT_SCHEMA_INVALID',
      `A search has at most ${MAX_QUERY_LENGTH} characters, not ${text.length}.`,
      { hint: 'Look for fewer words.' },
    )
  const words = new Set<string>()
  for (const piece of pieces(text)) {
    if (!HAS_UNSPACED.test(piece)) {
      words.add(stem(piece))
      continue
    }
    const characters = [...piece]
    if (characters.length === 1) words.add(piece)
    for (let place = 1; place < characters.length; place++) words.add(`${characters[place - 1]}${characters[place]}`)
  }
  const telling = [...words].filter((word) => !COMMON.has(word))
  return (telling.length > 0 ? telling : [...words]).slice(0, MAX_WORDS)
}

/** A tag as it is compared: without case, accents and blanks around it. */
export function foldTag(tag: string): string {
  return fold(tag).trim()
}

function* pieces(text: string): Generator<string> {
  for (const [run] of fold(text).matchAll(WORD)) {
    if (!HAS_UNSPACED.test(run)) yield run
    else for (const [piece] of run.matchAll(PIECE)) yield piece
  }
}

/** The same for large and small letters, wide and narrow ones, with and without accents. */
function fold(text: string): string {
  if (IS_PLAIN.test(text)) return text.toLowerCase()
  return text.normalize('NFKD').replace(ACCENTS, '').normalize('NFC').toLowerCase()
}

/** Without the plural of English, as Harman's rules take it off; other words stay as they are. */
function stem(word: string): string {
  const cut = word.slice(0, MAX_WORD_LENGTH)
  if (cut.length < 4 || !cut.endsWith('s') || !/^[a-z]+$/.test(cut)) return cut
  if (/[^ae]ies$/.test(cut)) return `${cut.slice(0, -3)}y`
  return /[^us]s$/.test(cut) ? cut.slice(0, -1) : cut
}
