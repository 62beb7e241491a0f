import { LONGEST_QUERY_NAME, QUERY_NAME } from '../query-names.ts'
import { WORD_BEGINNING } from '../secret-shapes.ts'

const LONGEST_WORD_BEGINNING = Math.max(11, LONGEST_QUERY_NAME)
const CREDENTIALS = /[Bb](?:earer|EARER|asic)[\t-\r ]{1,8}(?:[\w.~+/-]*={0,2})$/g
const BEFORE_CREDENTIALS = /[Bb](?:earer|EARER|asic)[\t-\r ]{1,8}$/
const LONGEST_BEFORE_CREDENTIALS = 14
const URL = /:\/\/[^\t-\r /@:"'<>]*(?::[^\t-\r /@"'<>]*)?$/g
const QUERY = new RegExp(String.raw`[?&#](?:${QUERY_NAME})=[^\t-\r "'<>&#]*$`, 'g')
/** Blanks of ASCII, quotes and angle brackets. */
const SEPARATORS = tableOf(/[\t-\r "'<>]/)
const TOKEN_CHARACTERS = tableOf(/[\w.-]/)
const WORD = new RegExp(WORD_BEGINNING, 'g')

/**
 * Up to where nothing that follows can change what is a secret. No shape reaches over a blank, quote or angle bracket,
 * but for the blanks behind `Bearer` and `Basic`. Undefined when there is none of them in so many last characters.
 */
export function certainUpTo(text: string, longestWord: number): number | undefined {
  const least = text.length - longestWord
  let cut = afterSeparator(text, text.length, least)
  for (;;) {
    if (cut < least || (cut === 0 && text.length > longestWord)) return undefined
    const before = BEFORE_CREDENTIALS.exec(text.slice(Math.max(0, cut - LONGEST_BEFORE_CREDENTIALS), cut))
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

/** Where a secret seems to begin that the text ends with, or ends in the middle of; looks no further back than `least`. */
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
  return startOfTokenCharacters(text, text.length - LONGEST_WORD_BEGINNING)
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
