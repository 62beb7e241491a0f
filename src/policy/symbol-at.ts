import { CHECK } from './read-expression.ts'

/** How many symbols are common: the ASCII characters where nothing is special, and the end of the text. */
export const SYMBOLS = 129

/** How many bits a symbol has. */
export const SYMBOL_BITS = 22

const ASCII = 128
const END_OF_TEXT = 128
const DOT = 46
const SLASH = 47

/** The checks of a rare symbol stand above its 16 bits of character. */
const CHECKS_SHIFT = 16

/** What holds at every character but a slash, unless it has to do with a `.` or `..` between slashes. */
const ORDINARY = CHECK.MORE | CHECK.NO_DOTS | CHECK.NO_DOT | CHECK.NO_DOT_PART
const AT_SLASH = ORDINARY & ~CHECK.NO_DOT
const AT_END = CHECK.END | CHECK.NO_DOTS | CHECK.NO_DOT_PART

/** What a matcher sees at a place of a text: the character, together with the checks that hold there where they are not as always. */
export function symbolAt(text: string, index: number): number {
  if (index === text.length) return END_OF_TEXT
  const code = text.charCodeAt(index)
  if (code < ASCII && code !== DOT && code !== SLASH) return code
  const follows = text.charCodeAt(index + 1)
  // By far the most dots and slashes, at no cost; the rest of what is common is found out below.
  if (code === SLASH ? follows !== DOT : code === DOT && follows > SLASH) return code
  return markedSymbol(text, index, code)
}

/** The checks that hold at a symbol, but for START. */
export function checksOf(symbol: number): number {
  if (symbol >= SYMBOLS) return symbol >> CHECKS_SHIFT
  if (symbol === END_OF_TEXT) return AT_END
  return symbol === SLASH ? AT_SLASH : ORDINARY
}

/** The code of the character; none at the end of the text. */
export function codeOf(symbol: number): number | undefined {
  if (symbol >= SYMBOLS) return symbol & 0xffff
  return symbol === END_OF_TEXT ? undefined : symbol
}

function markedSymbol(text: string, index: number, code: number): number {
  const isDotPart = (index === 0 && isDots(text, 0)) || (code === SLASH && isDots(text, index + 1))
  const isLastDot = code === DOT && endsPart(text, index + 1)
  let checks = code === SLASH ? AT_SLASH : ORDINARY
  if (isDotPart) checks &= ~CHECK.NO_DOT_PART
  if (isDots(text, index)) checks &= ~CHECK.NO_DOTS
  if (isLastDot) checks &= ~CHECK.NO_DOT
  const isCommon = code < ASCII && checks === checksOf(code)
  return isCommon ? code : (checks << CHECKS_SHIFT) | code
}

/** Whether `.` or `..` stands there up to a slash or the end. */
function isDots(text: string, index: number): boolean {
  if (text.charCodeAt(index) !== DOT) return false
  return endsPart(text, text.charCodeAt(index + 1) === DOT ? index + 2 : index + 1)
}

function endsPart(text: string, index: number): boolean {
  return index >= text.length || text.charCodeAt(index) === SLASH
}
