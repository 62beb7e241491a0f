import { wordSet } from './tokens.ts'

/** Named characters of HTML that are ASCII, or that programs read as ASCII; others stand in no address that works. */
const NAMED: Readonly<Record<string, string>> = Object.fromEntries(
  [
    'amp & AMP & lt < LT < gt > GT > quot " QUOT " apos \' num # dollar $ percnt % lpar ( rpar ) ast * midast * plus + comma , period . sol /',
    'colon : semi ; equals = Equal == quest ? commat @ lsqb [ lbrack [ bsol \\ rsqb ] rbrack ] lowbar _ UnderBar _ lcub { lbrace { rcub }',
    'rbrace } verbar | vert | VerticalLine | excl ! hyphen - dash - Colone ::= Hat ^ grave ` DiacriticalGrave ` mldr ... hellip ... nldr ..',
    'fjlig fj filig fi fllig fl fflig ff ffilig ffi ffllig ffl ijlig ij IJlig IJ incare c/o numero No trade TM TRADE TM',
    'sup1 1 sup2 2 sup3 3 ordf a bernou B Bernoullis B complexes C Cayleys C dd d DifferentialD d DD D CapitalDifferentialD D',
    'ee e exponentiale e ExponentialE e expectation E Fouriertrf F planckh h hamilt H HilbertSpace H Poincareplane H quaternions H',
    'ii i ImaginaryI i Im I image I imagpart I imagline I ell l lagran L Laplacetrf L phmmat M Mellintrf M naturals N order o orderof o ordm o',
    'primes P rationals Q Re R real R realpart R realine R reals R circledS S oS S integers Z zeetrf Z',
  ].flatMap((line) => {
    const parts = line.split(' ')
    return parts.flatMap((name, at) => (at % 2 === 0 ? [[name, parts[at + 1]!]] : []))
  }),
)
/** Those that are blanks or cannot be seen. */
const NAMED_NOTHING =
  /^(?:Tab|NewLine|nbsp|NonBreakingSpace|shy|zwj|zwnj|lrm|rlm|ZeroWidthSpace|Negative(?:VeryThin|Thin|Medium|Thick)Space|NoBreak|InvisibleTimes|InvisibleComma|ic|it|ApplyFunction|af|e[mn]sp(?:1[34])?|hairsp|(?:Very)?ThinSpace|(?:Medium|Thick)Space|(?:num|punc|thin)sp|tdot|TripleDot|DotDot|DownBreve)$/
const SCRIPT_LETTER = /^([a-z])(?:scr|fr|opf)$/i

/** Numbers may begin with any number of zeros, and old names need no semicolon. */
const ENTITY =
  /&(?:#x0*([0-9a-f]{1,8});?|#0*(\d{1,9});?|([a-z][a-z\d]{1,23});|(shy|amp|lt|gt|quot|nbsp|ord[fm]|sup[1-3]))/gi
/**
 * Escapes of Markdown (`\.`), of programs (`\u002e`, `\x2e`, `\/`), of styles (`\2e `), of URLs (`%2e`) and of mail (`=2E`, a
 * soft line end). Bytes above ASCII count where they are a character in UTF-8.
 */
const ESCAPE =
  /\\u\{([0-9a-f]{1,6})\}|\\[ux]((?<=u)[0-9a-f]{4}|(?<=x)[0-9a-f]{2})|\\([0-9a-f]{1,6})[ \t\r\n\f]?|((?:%[2-7][0-9a-f]|%[c-f][0-9a-f](?:%[89ab][0-9a-f]){1,3})|=[2-7][0-9A-F]|=[C-F][0-9A-F](?:=[89AB][0-9A-F]){1,3})|=[ \t]{0,8}\r?\n|\\([!-/:-@[-`{-~])/gi
/** Programs that read `\056` as a dot read styles in another way. */
const OCTAL = /\\([0-7]{2,3})/g
/** A subject or a name in a mail: `=?utf-8?B?…?=`. */
const ENCODED_WORD = /=\?[a-z\d_*-]{1,40}\?([bq])\?([^?\s]{0,1000})\?=/gi
const BETWEEN_ENCODED_WORDS = /(?<=\?=)\s{1,8}(?==\?)/g
/** What an address may be written with. */
const PLAIN = /[!-~\u3002\p{Cf}]/u

/**
 * Returns the texts that mail programs, browsers and Markdown may read in a text: as it stands, with entities and escapes
 * replaced, without markup, and without the signs and links of Markdown and the like.
 */
export function readingsOf(text: string): ReadonlySet<string> {
  const shown = decode(withoutMarkup(text))
  return new Set([text, ...decodings(text).map(withJoinedAttributes), shown, withoutSigns(shown)])
}

/** Returns the texts that a text may be read as once its entities and escapes are replaced: one, or two where styles differ. */
function decodings(text: string): readonly string[] {
  const decoded = decode(text)
  return text.search(OCTAL) !== -1
    ? [decoded, decode(text.replaceAll(OCTAL, (_, code: string) => octal(code)))]
    : [decoded]
}

/** Replaces entities and escapes. Twice, because what a program writes is often read by another one. */
function decode(text: string): string {
  return decodeOnce(decodeOnce(text))
}

function decodeOnce(text: string): string {
  const words = text.includes('=?')
    ? text.replaceAll(BETWEEN_ENCODED_WORDS, '').replaceAll(ENCODED_WORD, decodeWord)
    : text
  return words
    .replaceAll(ENTITY, (written, hex?: string, decimal?: string, name?: string, old?: string) => {
      if (name !== undefined || old !== undefined) return decodeName(name ?? old!) ?? written
      return characterOf(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16))
    })
    .replaceAll(ESCAPE, (written, u?: string, x?: string, style?: string, bytes?: string, sign?: string) => {
      if (bytes !== undefined) return decodeBytes(bytes) ?? written
      const code = u ?? x ?? style
      return code === undefined ? (sign ?? '') : characterOf(Number.parseInt(code, 16))
    })
}

function decodeWord(_: string, encoding: string, coded: string): string {
  if (encoding.toLowerCase() === 'b') return Buffer.from(coded, 'base64').toString('utf8').replaceAll('\0', '')
  return coded.replaceAll('_', ' ')
}

function decodeBytes(written: string): string | undefined {
  const text = Buffer.from(written.replaceAll(/[%=]/g, ''), 'hex').toString('utf8')
  return PLAIN.test(text.normalize('NFKC')) ? text : undefined
}

function decodeName(name: string): string | undefined {
  if (Object.hasOwn(NAMED, name)) return NAMED[name]
  if (NAMED_NOTHING.test(name)) return ''
  return SCRIPT_LETTER.exec(name)?.[1]
}

function octal(code: string): string {
  return characterOf(Number.parseInt(code, 8))
}

function characterOf(code: number): string {
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : ''
}

/** Elements that begin a line, a cell or an item: what stands before one and behind it is not one word. */
const BLOCKS = wordSet(
  `address article aside blockquote body br caption center dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3
  h4 h5 h6 head header hr html legend li main nav ol option p pre script section select style summary table tbody td textarea
  tfoot th thead title tr ul`,
)
const TAG_NAME = /<\/?([a-z][^\s/>]*)/iy
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
function withoutMarkup(text: string): string {
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
function withJoinedAttributes(text: string): string {
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
function withoutSigns(text: string): string {
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
  const name = match(TAG_NAME, text, at)
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
