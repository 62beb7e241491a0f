/** One character of a key's body. */
const BODY = '[A-Za-z0-9+/=]'
/** Shorter words could be any text, and end the body; only the last word of a key may be shorter. */
const SHORT_WORD = `${BODY}{1,15}`
/** From this length on it does not matter what follows the word, so that a stream need not wait for its end. */
const VERY_LONG_WORD = `${BODY}{257,}`
const LINE = `${BODY}{16,256}`
/** What must not follow a line: the first of the three words of a JWT is not a line. */
const AT_ITS_END = `(?!${BODY}|[._~@:]|-(?!----))`
const LONG_WORD = `(?:${VERY_LONG_WORD}|${LINE}${AT_ITS_END})`
/** The same where more text may follow. */
const CERTAIN_WORD = `(?:${VERY_LONG_WORD}|${LINE}(?=[^-]|-{5})${AT_ITS_END})`

const HEADERS = ['Proc-Type: ', 'DEK-Info: ', 'Version: ', 'Comment: ', 'Charset: ', 'Hash: ']
const HEADER_VALUE = '[\\w ,.()/+-]'

/**
 * What may be around the words of a body: blanks, quotes, commas, escaped line breaks, the character that a
 * line of a comment, a quotation or a diff begins with, the plus between two strings, the number of a line, a header.
 */
const BETWEEN = [
  `[\\t-\\r "',]`,
  `\\\\{1,8}[nrt"'\\n]`,
  `(?<=\\n)(?:[>|#*]|-(?=${BODY}))`,
  '(?<=[\\t ])\\+(?=[\\t-\\r ])',
  `[0-9]{1,6}[\\t:|]`,
  `(?:${HEADERS.join('|')})${HEADER_VALUE}{0,100}(?!${HEADER_VALUE})`,
].join('|')
const some = `(?:${BETWEEN}){1,100}`
const any = `(?:${BETWEEN}){0,100}`

const BEGIN = '-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----'
const END = '-{5,6}END [A-Z0-9 ]{0,60}-----'
const NO_BODY = `${any}(?:${SHORT_WORD}${any})?${END}`
const TAIL = `(?:${some}${SHORT_WORD})?${any}`

/** The beginning of something that is incomplete. */
const PARTIAL = [
  '\\\\{1,8}',
  '-{1,6}(?:E|EN|END(?: [A-Z0-9 ]{0,60}-{0,4})?)?',
  ...HEADERS.flatMap((header) => Array.from(header, (_, index) => header.slice(0, index + 1))),
].join('|')

/**
 * A private key as it is in a file or variable, quoted or shown by a tool. Without an end, as in a cut text, it ends
 * before the first text that no key contains.
 */
export const KEY_BLOCK = new RegExp(
  `${BEGIN}(?:${any}${LONG_WORD}(?:${some}${LONG_WORD})*(?:${TAIL}(?:${END}|$))?|${NO_BODY})`,
  'g',
)

/** The same in pieces, for an incomplete text: each begins where the one before it ended. */
export const KEY_PIECES = {
  begin: new RegExp(BEGIN),
  firstWord: new RegExp(`^${any}${CERTAIN_WORD}`),
  withoutBody: new RegExp(`^${NO_BODY}`),
  moreOfWord: new RegExp(`^${BODY}*`),
  nextWord: new RegExp(`${some}${CERTAIN_WORD}`, 'y'),
  end: new RegExp(`^${TAIL}${END}`),
  /** The rest of it at the end of the text. */
  last: new RegExp(`^(?:${some}${LONG_WORD})*(?:${TAIL}$)?`),
  /** More text could still make it the first words of a body. */
  mayBegin: new RegExp(`^${any}(?:(?:${SHORT_WORD}${any})?(?:${PARTIAL})?|${LINE}-{0,4})$`),
  /** More text could still make it the next words, or the end. */
  mayGoOn: new RegExp(`^(?:${TAIL}(?:${PARTIAL})?|${some}${LINE}-{0,4})$`),
} as const

/** Replaces the words of a key one by one: text around them that could be code stays visible. */
export function markWords(block: string, mark: string): string {
  const head = KEY_PIECES.begin.exec(block)![0]
  return head + block.slice(head.length).replace(WORDS, (word) => (isMixed(word) ? mark : word))
}

const WORDS = new RegExp(`${BODY}{16,}`, 'g')

/** Whether a word mixes upper and lower case, as random text does and names of programs and folders do not. */
const isMixed = (word: string): boolean => /[a-z]/.test(word) && /[A-Z]/.test(word)
