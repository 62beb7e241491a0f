/** A word of a text, in lower case, and where it stands. */
export interface Token {
  readonly word: string
  readonly from: number
  readonly to: number
}

/** The words of a text. An apostrophe inside of one belongs to it. Written out, because expressions take ten times as long. */
export function tokensOf(text: string): readonly Token[] {
  const lower = text.toLowerCase()
  // Lower case may be longer; then places would not be the same.
  const source = lower.length === text.length ? lower : text
  const tokens: Token[] = []
  let from = -1
  for (let at = 0; at <= source.length; at++) {
    const code = at < source.length ? source.charCodeAt(at) : 32
    const isInside = isLetter(code) || (from !== -1 && isApostrophe(code) && isLetter(source.charCodeAt(at + 1)))
    if (isInside) {
      if (from === -1) from = at
    } else if (from !== -1) {
      tokens.push({ word: source.slice(from, at), from, to: at })
      from = -1
    }
  }
  return tokens
}

function isApostrophe(code: number): boolean {
  return code === 39 || code === 0x2019
}

/** ASCII letters, and everything beyond that is not punctuation or a blank. */
function isLetter(code: number): boolean {
  if (code < 128) return (code >= 97 && code <= 122) || (code >= 65 && code <= 90)
  if (code < 0xc0) return code === 0xaa || code === 0xb5 || code === 0xba
  return !(
    (code >= 0x2000 && code <= 0x2bff) ||
    (code >= 0x3000 && code <= 0x3004) ||
    (code >= 0x3008 && code <= 0x3020)
  )
}

/** Marks that people put around names and what others said. */
export const QUOTE_MARKS = `"'\`“”‘’«»„「」『』《》`
/** Chinese, Japanese and Korean, whose words follow each other without blanks or with particles. */
export const CJK_LETTER = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー々]/u
/** A name in letters only: such a word may be any word of the language. */
export const PLAIN_WORDS = /^[\p{L}\p{M}\s'’-]+$/u

/** The words of a list that is separated by blanks. */
export function wordSet(list: string): ReadonlySet<string> {
  return new Set(list.split(/\s+/))
}

/** How much is normalised at a time: one character may become eighteen. */
const CHUNK = 4_096

/** Replaces characters by the plain ones that they look like (NFKC). Stops once there are more than `maxChars`. */
export function normalise(text: string, maxChars: number): string {
  let normal = ''
  for (let at = 0; at < text.length && normal.length <= maxChars; at += CHUNK)
    normal += text.slice(at, at + CHUNK).normalize('NFKC')
  return normal
}
