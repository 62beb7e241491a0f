import { anyOf, SkipSearch } from './text.ts'

/** One kind of writing: what stands between the characters of a value, or instead of them. */
interface Writing {
  /** Those parts of the text without it that may hold a value. */
  readonly candidates: (text: string) => string
  /** The text without it. */
  readonly fold: (text: string) => string
  /** The same, with where each of its characters stands in the text. */
  readonly foldWithPlaces: (text: string) => Folded
  /** A text may end in the middle of what stands for a character, or between two. */
  readonly partial: RegExp
}

/** A text without what does not count in it. */
interface Folded {
  readonly text: string
  readonly starts: readonly number[]
  readonly ends: readonly number[]
}

/** A place in a text. */
export interface FoldedPlace {
  readonly index: number
  readonly end: number
}

/** Shorter ones would hit ordinary text. */
const MIN_NEEDLE_LENGTH = 8
/** Of the end of a stream: how far back the beginning of a value is looked for, beside three times its length. */
const LOOK_BACK = 16_384
/** Of a token that a text ends in the middle of. */
const MAX_PARTIAL_LENGTH = 32

/**
 * Known values that are written otherwise than as they are, or broken by blanks, line breaks and characters that nobody
 * sees: the text is folded, which takes out what does not count, and then searched for all of them in one pass.
 */
export class FoldedValues {
  readonly #needles: readonly string[]
  readonly #search: SkipSearch
  readonly #pattern: RegExp
  readonly #writing: Writing
  readonly #longest: number

  constructor(needles: Iterable<string>, writing: Writing) {
    // As it is, too: what looks like an escape in it may be written as another one.
    const folded = [...needles].flatMap((needle) => [needle, writing.fold(needle)])
    const long = folded.filter(({ length }) => length >= MIN_NEEDLE_LENGTH)
    this.#needles = [...new Set(long)].sort((a, b) => b.length - a.length)
    this.#longest = this.#needles[0]?.length ?? 0
    this.#search = new SkipSearch(this.#needles)
    this.#pattern = anyOf(this.#needles)
    this.#writing = writing
  }

  /** Puts a mark in the place of every value. */
  hide(text: string, markOf: (hidden: string) => string): string {
    const places = this.places(text)
    if (places.length === 0) return text
    let output = ''
    let from = 0
    for (const { index, end } of places) {
      output += text.slice(from, index) + markOf(text.slice(index, end))
      from = end
    }
    return output + text.slice(from)
  }

  /** Where the values stand, from left to right; of those that begin together the longest. */
  places(text: string): readonly FoldedPlace[] {
    if (!this.#mayHold(text)) return []
    const { text: folded, starts, ends } = this.#writing.foldWithPlaces(text)
    return [...folded.matchAll(this.#pattern)].map(({ 0: needle, index }) => {
      return { index: starts[index]!, end: ends[index + needle.length - 1]! }
    })
  }

  /** From where on a text, behind an index, may be the beginning of a value; its length when it ends otherwise. */
  beginning(text: string, from: number): number {
    const cut = this.#writing.partial.exec(text.slice(Math.max(from, text.length - MAX_PARTIAL_LENGTH)))
    const end = cut ? text.length - cut[0].length : text.length
    let least = end
    let folded = ''
    // As much as holds all but one character of the longest, and of what the window may have cut in two.
    for (let back = 2 * this.#longest; folded.length < this.#longest + MAX_PARTIAL_LENGTH && least > from; back *= 2) {
      if (back > 3 * this.#longest + LOOK_BACK) break
      least = Math.max(from, end - back)
      folded = this.#writing.fold(text.slice(least, end))
    }
    const first = this.#firstBeginning(folded)
    return first === folded.length ? end : least + this.#writing.foldWithPlaces(text.slice(least, end)).starts[first]!
  }

  #firstBeginning(folded: string): number {
    let first = folded.length
    for (const needle of this.#needles) {
      const character = needle[0]!
      let at = folded.indexOf(character, Math.max(0, folded.length - needle.length + 1))
      while (at !== -1 && at < first && !needle.startsWith(folded.slice(at))) at = folded.indexOf(character, at + 1)
      if (at !== -1) first = Math.min(first, at)
    }
    return first
  }

  /** How many characters of a value a text could show. */
  countShown(text: string): number {
    return this.#writing.fold(text).length
  }

  #mayHold(text: string): boolean {
    if (this.#needles.length === 0 || text.length < MIN_NEEDLE_LENGTH) return false
    return this.#search.isIn(this.#writing.candidates(text))
  }
}

/**
 * In plain characters or base64, some of them written as `%41`, `\u0041`, `\x41`, `&#65;` or in full width, and broken in
 * any place; also in UTF-16, which has a NUL next to every character of ASCII.
 */
export function plainWriting(isBytes: boolean): Writing {
  const escapes = String.raw`%(?:25){0,4}([0-9a-fA-F]{2})|\\{1,8}(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|[nrt])|${ENTITY}|${isBytes ? WIDE_BYTES : WIDE}`
  const partial = String.raw`%(?:25){0,4}[0-9a-fA-F]?|\\{1,8}(?:u[0-9a-fA-F]{0,3}|x[0-9a-fA-F]?)?|${PARTIAL_ENTITY}|[ \t]{1,8}`
  const token = new RegExp(`${isBytes ? BREAK_BYTES : BREAKS}|${escapes}`, 'g')
  const rare = isBytes ? RARE_BYTES : RARE
  let last = { text: '', folded: '' }
  const fold = (text: string) => {
    if (text === last.text) return last.folded
    const pieces: string[] = []
    let from = 0
    const add = (end: number, character: string, next: number) => {
      pieces.push(text.slice(from, end), character)
      from = next
    }
    if (!isPlainAscii(text) && rare.test(text)) walk(text, token, add)
    else walkLines(text, add)
    pieces.push(text.slice(from))
    last = { text, folded: from === 0 ? text : pieces.join('') }
    return last.folded
  }
  return {
    candidates: fold,
    fold,
    foldWithPlaces(text) {
      const whole = placesOf(text)
      return without(whole, (add) => {
        let from = 0
        walk(text, token, (end, character, next) => {
          add.plain(from, end)
          if (character !== '') add.character(character, end, next)
          from = next
        })
        add.plain(from, text.length)
      })
    },
    partial: new RegExp(`(?:${partial}${isBytes ? `|${PARTIAL_BYTES}` : ''})$`),
  }
}

/** In hex, with `:`, blanks, `0x` and the like between the bytes, and broken in any place. */
export function hexWriting(plain: Writing): Writing {
  return {
    candidates: (text) => hexRuns(plain.fold(text)),
    fold: (text) => plain.fold(text).replace(HEX_SEPARATOR, ''),
    foldWithPlaces(text) {
      const folded = plain.foldWithPlaces(text)
      return without(folded, (add) => {
        let from = 0
        for (const { 0: separator, index } of folded.text.matchAll(HEX_SEPARATOR)) {
          add.plain(from, index)
          from = index + separator.length
        }
        add.plain(from, folded.text.length)
      })
    },
    partial: new RegExp(`(?:0|${plain.partial.source.slice(3, -2)})$`),
  }
}

/** How a value is written in base64 wherever it stands in the bytes: the characters that it alone decides. */
export function base64Cores(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64')
    const core = text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6))
    return [core, core.replaceAll('+', '-').replaceAll('/', '_')]
  })
}

/** Of the eight bytes that a value has at least. */
const MIN_HEX_DIGITS = 16
const HEX_SEPARATOR = /0x|[ \t:,;._-]/g

/** By code, 1 for digits and for what may stand between them. */
const IN_HEX = new Uint8Array(65_536)
for (const character of '0123456789abcdefABCDEF \t:,;._-x') IN_HEX[character.charCodeAt(0)] = 1

/**
 * The digits of a text, where enough of them stand together. Only every 16th character is looked at, until one of them
 * may be part of so many.
 */
function hexRuns(text: string): string {
  const runs: string[] = []
  let least = 0
  for (let at = MIN_HEX_DIGITS - 1; at < text.length; at += MIN_HEX_DIGITS) {
    if (IN_HEX[text.charCodeAt(at)] === 0) continue
    let start = at
    while (start > least && IN_HEX[text.charCodeAt(start - 1)] === 1) start--
    while (at < text.length && IN_HEX[text.charCodeAt(at)] === 1) at++
    least = at
    if (at - start >= MIN_HEX_DIGITS) runs.push(text.slice(start, at).replace(HEX_SEPARATOR, ''))
  }
  return runs.join('\n')
}

/** The names in HTML of what a value has besides letters and digits. */
const ENTITIES: Readonly<Record<string, string>> = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", colon: ':', semi: ';', sol: '/', bsol: '\\', period: '.' },
  ...{ comma: ',', lowbar: '_', UnderBar: '_', hyphen: '-', dash: '-', equals: '=', plus: '+', num: '#', dollar: '$' },
  ...{ percnt: '%', commat: '@', excl: '!', quest: '?', ast: '*', midast: '*', lpar: '(', rpar: ')', lsqb: '[' },
  ...{ lbrack: '[', rsqb: ']', rbrack: ']', lcub: '{', lbrace: '{', rcub: '}', rbrace: '}', verbar: '|', vert: '|' },
  ...{ grave: '`', Hat: '^', Tab: '\t', NewLine: '\n' },
}
const ENTITY = String.raw`&#0{0,8}([1-9]\d{0,6});?|&#[xX]0{0,8}([1-9a-fA-F][0-9a-fA-F]{0,5});?|&(${Object.keys(ENTITIES).join('|')});`
const PARTIAL_ENTITY = String.raw`&(?:#(?:\d{0,15}|[xX][0-9a-fA-F]{0,14})|[A-Za-z]{0,8})`
const NAMED_OR_NUMBERED = /&(?:#|[A-Za-z]{2,8};)/
const WIDE = String.raw`([\uff01-\uff5e])`
const WIDE_BYTES = String.raw`(\xef(?:\xbc[\x81-\xbf]|\xbd[\x80-\x9e]))`

/** The characters that nobody sees (Default_Ignorable_Code_Point). */
const UNSEEN = [
  String.raw`[\0\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164]`,
  String.raw`[\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8]|\ud82f[\udca0-\udca3]|\ud834[\udd73-\udd7a]`,
  String.raw`[\udb40-\udb43][\udc00-\udfff]`,
].join('|')
/** What a value can be broken by: a line break (the first group), with the blanks around it, and what nobody sees. */
const BREAKS = String.raw`([\n-\r\x85\u2028\u2029])|${UNSEEN}`
/** The same in UTF-8 that is read as Latin-1. */
const BREAK_BYTES = [
  String.raw`([\n-\r]|\xc2\x85|\xe2\x80[\xa8\xa9])`,
  String.raw`\0|\xc2\xad|\xcd\x8f|\xd8\x9c|\xe1(?:\x85[\x9f\xa0]|\x9e[\xb4\xb5]|\xa0[\x8b-\x8f])`,
  String.raw`\xe2(?:\x80[\x8b-\x8f\xaa-\xae]|\x81[\xa0-\xaf])|\xe3\x85\xa4`,
  String.raw`\xef(?:\xb8[\x80-\x8f]|\xbb\xbf|\xbe\xa0|\xbf[\xb0-\xb8])`,
  String.raw`\xf0(?:\x9b\xb2[\xa0-\xa3]|\x9d\x85[\xb3-\xba])|\xf3\xa0[\x80-\xbf][\x80-\xbf]`,
].join('|')
const PARTIAL_BYTES = [
  String.raw`[ \t]{0,8}(?:\xc2|\xe2\x80?)|[\xcd\xd8]|\xe1[\x85\x9e\xa0]?|\xe2\x81|\xe3\x85?`,
  String.raw`\xef[\xb8\xbb-\xbf]?|\xf0(?:\x9b\xb2?|\x9d\x85?)?|\xf3(?:\xa0[\x80-\xbf]?)?`,
].join('|')
const IGNORED_CODE = new RegExp(`^(?:${BREAKS})`)
const MAX_BLANKS = 8
/** How all tokens but line feeds begin, and little else. */
const RARE = /[\0%\\\v-\r\x85\xad\u0100-\uffff]|&(?:#|[A-Za-z]{2,8};)/
const RARE_BYTES = /&(?:#|[A-Za-z]{2,8};)|[\0%\\\v-\r\xc2\xcd\xd8\xe1-\xe3\xef\xf0\xf3]/

/** The same as to test `RARE`, for most texts, by searches of which each is much faster. */
function isPlainAscii(text: string): boolean {
  if (text.includes('\\') || text.includes('%') || text.includes('\r') || text.includes('\0')) return false
  if (text.includes('&') && NAMED_OR_NUMBERED.test(text)) return false
  return !text.includes('\v') && !text.includes('\f') && Buffer.byteLength(text) === text.length
}

type OnToken = (start: number, character: string, next: number) => void

/** Goes through all tokens: where each begins with the blanks before it, the character it stands for, where it ends. */
function walk(text: string, token: RegExp, onToken: OnToken): void {
  token.lastIndex = 0
  let from = 0
  for (let match = token.exec(text); match; match = token.exec(text)) {
    const [all, lineBreak, percent, unit, byte, decimal, hex, name, wide] = match
    const end = match.index + all.length
    if (lineBreak === undefined) {
      const known = name ?? wide
      const character = known === undefined ? decode(percent ?? unit ?? byte ?? hex, decimal) : meaningOf(known)
      onToken(match.index, character, end)
    }
    from = lineBreak === undefined ? end : passBreak(text, from, match.index, end, onToken)
    token.lastIndex = from
  }
}

/** The same, much faster, for a text whose only tokens are line feeds. */
function walkLines(text: string, onToken: OnToken): void {
  let from = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', from)) {
    from = passBreak(text, from, at, at + 1, onToken)
  }
}

/** A line break goes with the blanks before and behind it. */
function passBreak(text: string, least: number, at: number, end: number, onToken: OnToken): number {
  let start = at
  let next = end
  while (start > Math.max(least, at - MAX_BLANKS) && isBlank(text.charCodeAt(start - 1))) start--
  while (next < text.length && isBlankOrBreak(text.charCodeAt(next))) next++
  onToken(start, '', next)
  return next
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09
}

function isBlankOrBreak(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d)
}

function decode(hex: string | undefined, decimal: string | undefined): string {
  if (hex === undefined && decimal === undefined) return ''
  const code = decimal === undefined ? Number.parseInt(hex!, 16) : Number(decimal)
  const character = code > 0x10ffff ? '' : String.fromCodePoint(code)
  return IGNORED_CODE.test(character) ? '' : character
}

/** The character of an entity, or of one in full width, also in UTF-8 that is read as Latin-1. */
function meaningOf(written: string): string {
  const entity = ENTITIES[written]
  if (entity !== undefined) return entity
  const wide = written.length === 3 ? Buffer.from(written, 'latin1').toString() : written
  return String.fromCharCode(wide.charCodeAt(0) - 0xfee0)
}

interface Adder {
  plain(from: number, to: number): void
  character(character: string, start: number, end: number): void
}

function placesOf(text: string): Folded {
  const indexes = Array.from({ length: text.length }, (_, index) => index)
  return { text, starts: indexes, ends: indexes.map((index) => index + 1) }
}

/** What is added of a text, with the places that it has there. */
function without(whole: Folded, fill: (add: Adder) => void): Folded {
  const pieces: string[] = []
  const starts: number[] = []
  const ends: number[] = []
  fill({
    plain(from, to) {
      pieces.push(whole.text.slice(from, to))
      for (let index = from; index < to; index++) {
        starts.push(whole.starts[index]!)
        ends.push(whole.ends[index]!)
      }
    },
    character(character, start, end) {
      pieces.push(character)
      for (let unit = 0; unit < character.length; unit++) {
        starts.push(whole.starts[start]!)
        ends.push(whole.ends[end - 1]!)
      }
    },
  })
  return { text: pieces.join(''), starts, ends }
}
