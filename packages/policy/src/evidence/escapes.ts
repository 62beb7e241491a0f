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

/** Returns the texts that a text may be read as once its entities and escapes are replaced: one, or two where styles differ. */
export function decodings(text: string): readonly string[] {
  const decoded = decode(text)
  return text.search(OCTAL) !== -1
    ? [decoded, decode(text.replaceAll(OCTAL, (_, code: string) => octal(code)))]
    : [decoded]
}

/** Replaces entities and escapes. Twice, because what a program writes is often read by another one. */
export function decode(text: string): string {
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
