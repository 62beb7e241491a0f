import { wordSet } from './tokens.ts'

/** Elements that begin a line, a cell or an item: what stands before one and behind it is not one word. */
const BLOCKS = wordSet(
  `address article aside blockquote body br caption center dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3
  h4 h5 h6 head header hr html legend li main nav ol option p pre script section select style summary table tbody td textarea
  tfoot th thead title tr ul`,
)
const NAME = /<\/?([a-z][^\s/>]*)/iy
const BETWEEN_ATTRIBUTES = /[\s/]*/y
const ATTRIBUTE_NAME = /[^\s/>][^\s/>=]*\s*/y
const UNQUOTED_VALUE = /[^\s>]*/y
const BLANKS = /\s*/y
const COMMENT_END = /--!?>/g
/** Signs of Markdown that are not shown inside of words. */
const EMPHASIS = /\*+|~~|`+/g

/**
 * Returns a text as it is shown: without HTML tags and comments, and without the signs of Markdown around parts of words.
 * Reads each character once, whatever is not closed.
 */
export function withoutMarkup(text: string): string {
  let shown = ''
  let from = 0
  for (let at = text.indexOf('<'); at !== -1; at = text.indexOf('<', at)) {
    const tag = readTag(text, at)
    if (tag === 'text') {
      at++
      continue
    }
    // What does not end is text, and so is the rest.
    if (tag === 'open') break
    shown += text.slice(from, at)
    if (tag.isBlock) shown += ' '
    at = tag.to
    from = at
  }
  return (shown + text.slice(from)).replaceAll(EMPHASIS, '')
}

const ATTRIBUTE = /=\s{0,8}(?:"[^"]*"|'[^']*')/g

/** Returns a text without line ends and tabs in values of attributes, as browsers read links. */
export function withJoinedAttributes(text: string): string {
  return text.includes('=') ? text.replaceAll(ATTRIBUTE, (value) => value.replaceAll(/[\t\r\n]+/g, '')) : text
}

/** A dot or an at sign that a writer keeps programs from seeing: `[.]`, `(at)`. */
const BRACKETED = /\s?[[({<]\s?(?:(\.|dot)|@|at)\s?[\])}>]\s?/gi
/** Where a link of Markdown leads, which is judged where it stands. */
const LINK_TARGET = /\](?:\([^()\n]{0,500}\)|\[[^[\]\n]{0,500}\])/g
const URL_IN_TEXT = /(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{0,30}:\/\/[^\s<>"'`]+/gi
/** Signs of Markdown, wikis and chats that are not shown, and an escaped blank, which is not shown either. */
const SIGN = /!?\[|[\]*~`^{}]|==+|\+\++|\|\|+|''+|\\ |(?<![\p{L}\p{N}_])_+|_+(?![\p{L}\p{N}_])/gu

/** Returns a text without links and signs around parts of words: `[evil](#x)._com_` is shown as one host. */
export function withoutSigns(text: string): string {
  return text
    .replaceAll(BRACKETED, (_, dot?: string) => (dot === undefined ? '@' : '.'))
    .replaceAll(LINK_TARGET, '')
    .replaceAll(URL_IN_TEXT, withoutWholeUrl)
    .replaceAll(SIGN, '')
}

/** A URL with a blank behind it is judged as it stands. */
function withoutWholeUrl(url: string, at: number, text: string): string {
  return /\S/.test(text[at + url.length] ?? ' ') ? url : ' '
}

type Tag = { readonly to: number; readonly isBlock: boolean } | 'text' | 'open'

/** Reads what begins with `<` as HTML does. */
function readTag(text: string, at: number): Tag {
  if (text.startsWith('<!--', at)) return endsAt(skip(COMMENT_END, text, at + 2))
  const name = match(NAME, text, at)
  if (name === undefined) return /[!?/]/.test(text[at + 1] ?? '') ? endsAt(text.indexOf('>', at) + 1) : 'text'
  const to = endOfAttributes(text, at + name[0].length)
  return endsAt(to, BLOCKS.has(name[1]!.toLowerCase()))
}

/** Where a tag ends; 0 if it does not. */
function endOfAttributes(text: string, begin: number): number {
  let at = begin
  for (;;) {
    at = skip(BETWEEN_ATTRIBUTES, text, at)
    if (at >= text.length) return 0
    if (text[at] === '>') return at + 1
    at = skip(ATTRIBUTE_NAME, text, at)
    if (text[at] !== '=') continue
    at = skip(BLANKS, text, at + 1)
    const quote = text[at]
    if (quote !== '"' && quote !== "'") at = skip(UNQUOTED_VALUE, text, at)
    else {
      at = text.indexOf(quote, at + 1) + 1
      if (at === 0) return 0
    }
  }
}

function endsAt(to: number, isBlock = false): Tag {
  return to === 0 ? 'open' : { to, isBlock }
}

/** Returns the place behind what an expression finds from a place on; 0 if it finds nothing. */
function skip(expression: RegExp, text: string, at: number): number {
  const found = match(expression, text, at)
  return found === undefined ? 0 : found.index + found[0].length
}

function match(expression: RegExp, text: string, at: number): RegExpExecArray | undefined {
  expression.lastIndex = at
  return expression.exec(text) ?? undefined
}
