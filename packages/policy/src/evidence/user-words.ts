import type { NeededRequest } from './actions.ts'
import { Consent } from './consent.ts'
import { Days, momentOf } from './days.ts'
import type { SearchBudget } from './search-budget.ts'
import { bansIn, continuesText, isInside, quotationsIn, type Range, rangeAt, sentencesOf } from './sentences.ts'
import { CJK_LETTER, normalise, PLAIN_WORDS, QUOTE_MARKS, tokensOf } from './tokens.ts'

/** A shorter text says too little: `to`, `me` and `5` occur everywhere. In Chinese, Japanese and Korean, two are a name. */
const MIN_CHARS = 3
const MIN_CJK_CHARS = 2
/** A longer value is not looked for. */
const MAX_CHARS = 16_384
/** Some characters are many once they are normalised; what is behind this place proves nothing. */
const MAX_WORDS_CHARS = 65_536

const BREAKS = new Set(` \t\n\r\v\f${QUOTE_MARKS}()[]<>,;!?=|*…、。【】・`)
const SIGNS = new Set('#@$€£¥+~')
const UNITS = new Set('%€$£¥')
/** What a Korean word may end with, behind a name. */
const PARTICLE =
  /^(?:님|씨|선생님|부장님|팀장님)?(?:에게서?|한테서?|께서?|으로|로|을|를|이|가|은|는|의|와|과|랑|하고|에서?|도|만|부터|까지)?(?=$|[\s"'.,!?…)\]」』])/u
/** Words that English writes like names. */
const CALENDAR =
  /^(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|may|june|july|august|september|october|november|december)$/i
/** Everybody: no name, although nobody writes it otherwise than one. */
const EVERYBODY =
  /^(?:全部|所有|所有人|全体|全體|全员|大家|每个人|公开|公開|全員|全て|すべて|皆|みんな|皆さん|모두|전체|전원|공개|모든|누구나)$/u
/** How a name begins. */
const NAME = /^\p{Lu}[\p{L}\p{M}'’-]*\p{Ll}/u
const MAX_NAME_CHARS = 80
const NUMBER = /[-−]?\d[\d.,]*\d|\d/gu
const PLAIN_NUMBER = /^[-−]?\d+(?:\.\d+)?$/
const GROUPED_NUMBER = /^[-−]?\d{1,3}(?:,\d{3})+(?:\.\d+)?$/
/** Letters of addresses; a Chinese, Japanese or Korean word ends where one begins. */
const L = String.raw`a-z0-9_\u00c0-\u1fff`
const TAIL = '[^\\s<>"\'`“”«»「」]'
const HOST = `(?:[${L}-]{1,63}\\.){1,8}[a-z\\u00c0-\\u1fff][${L}-]{1,23}`
/** Addresses, each of which is one word, whatever stands in it. All repetitions before a fixed character are bounded. */
const ADDRESS = new RegExp(
  `(?<![${L}.%+@/\\\\~=&-])(?:[a-z][a-z0-9+.-]{1,20}:\\/\\/${TAIL}+|[${L}.%+-]{1,64}@${HOST}|${HOST}(?::\\d{1,5})?(?:[/?#]${TAIL}*)?)`,
  'giu',
)
/** Addresses that may have several spellings. */
const ODD_ADDRESS = /^(?:https?:|www\.)|@|\/$/i
const TRAILING = /[.,:;!?)\]}*…、。」』》]{1,10}$/u
/** Blanks that nobody types: some of them are not even seen. */
const ODD_BLANK = /[^\S \t\n\r]/

/** The user's own words, in which the values of calls are looked for. */
export class UserWords {
  readonly #text: string
  readonly #sentences: readonly Range[]
  readonly #bans: readonly Range[]
  /** Addresses, inside of which no other value begins or ends. */
  readonly #addresses: readonly Range[]
  readonly #places: Places
  #numbers: ReadonlySet<number> | undefined
  #days: Days | undefined
  readonly #consent: Consent
  #segmenter: Intl.Segmenter | undefined

  constructor(texts: readonly string[]) {
    const { text, ranges, addresses } = joinTexts(texts)
    this.#text = text
    this.#addresses = addresses
    this.#sentences = sentencesOf(text)
    const tokens = tokensOf(text)
    this.#bans = bansIn(text, tokens, this.#sentences)
    this.#consent = new Consent({
      text,
      texts: ranges,
      tokens,
      sentences: this.#sentences,
      bans: this.#bans,
      quotations: quotationsIn(text),
    })
    this.#places = new Places(text)
  }

  /** Whether there are none. */
  get isEmpty(): boolean {
    return this.#text === ''
  }

  /**
   * Whether the user named a value: a text as whole words, a number by its value, everything in a list. What stands in a
   * ban does not count, nor does an everyday word that nothing marks as a name. With an action, the user must have asked
   * for it nearby. An object never counts: its keys are values, too.
   */
  has(value: unknown, budget: SearchBudget, asked?: NeededRequest): boolean {
    if (!budget.spend(1)) return false
    // For a call, a number is an id, which the request must be about like any other name.
    if (typeof value === 'number') return asked ? this.#hasText(String(value), budget, asked) : this.#hasNumber(value)
    if (typeof value === 'string') return this.#hasText(value, budget, asked)
    return Array.isArray(value) && value.length > 0 && value.every((part) => this.has(part, budget, asked))
  }

  #hasText(value: string, budget: SearchBudget, asked: NeededRequest | undefined): boolean {
    if (value.length > MAX_CHARS || value.length > this.#text.length + 20 || !budget.spend(value.length >> 2))
      return false
    // A name in other letters or with other blanks is another name, however similar they look.
    if (value.normalize('NFKC') !== value || value.trim() !== value || ODD_BLANK.test(value)) return false
    const wanted = foldValue(value)
    if (
      wanted.length < (CJK_LETTER.test(wanted) ? MIN_CJK_CHARS : MIN_CHARS) ||
      EVERYBODY.test(wanted) ||
      CALENDAR.test(wanted)
    )
      return false
    const moment = momentOf(value)
    if (moment && this.#hasDay(moment.day) && (moment.time === undefined || this.#occurs(moment.time, budget)))
      return asked === undefined || this.#consent.asksFor(asked.action)
    return this.#occurs(wanted, budget, asked)
  }

  /** Whether a text occurs outside of every ban, and is marked as a name where it needs to be. */
  #occurs(wanted: string, budget: SearchBudget, asked?: NeededRequest): boolean {
    const head = wanted.slice(0, 64)
    let isFound = false
    for (let at = this.#places.first(wanted); at !== -1; at = this.#places.next(at)) {
      if (!budget.spend(1)) return false
      if (!this.#text.startsWith(head, at)) continue
      if (!budget.spend(10 + (wanted.length >> 4))) return false
      if (!this.#text.startsWith(wanted, at) || !this.#isWhole(at, at + wanted.length, budget)) continue
      if (this.#isBanned(at)) return false
      if (isFound) continue
      isFound = this.#isMarked(wanted, at) && (asked === undefined || this.#consent.isGiven(wanted, at, asked, budget))
      if (isFound && this.#bans.length === 0) return true
    }
    return isFound
  }

  #isBanned(place: number): boolean {
    return isInside(this.#bans, place)
  }

  /** Whether no word continues before or after a part of the text. */
  #isWhole(at: number, end: number, budget: SearchBudget): boolean {
    const address = this.#addresses[rangeAt(this.#addresses, end - 1)]
    if (address && at < address.to && (at > address.from || end !== address.to)) return false
    return this.#begins(at, budget) && this.#ends(end, budget)
  }

  #begins(at: number, budget: SearchBudget): boolean {
    const text = this.#text
    if (at === 0 || isBreak(text, at - 1)) return true
    if (SIGNS.has(text[at - 1]!) && !(text[at - 1] === '~' && text[at] === '/'))
      return at === 1 || isBreak(text, at - 2)
    return this.#isBetweenWords(at, budget)
  }

  #ends(end: number, budget: SearchBudget): boolean {
    const text = this.#text
    if (end === text.length || (isBreak(text, end) && text[end] !== '=')) return true
    const next = text[end]!
    if (next === '.' || next === ':' || UNITS.has(next)) {
      const at = UNITS.has(next) && '.:'.includes(text[end + 1] ?? ' ') ? end + 2 : end + 1
      return at >= text.length || isBreak(text, at)
    }
    return this.#isBetweenWords(end, budget)
  }

  /** Where words follow each other without blanks: between scripts, and between the words of a dictionary. */
  #isBetweenWords(place: number, budget: SearchBudget): boolean {
    const [before, after] = [this.#text[place - 1]!, this.#text[place]!]
    const isJoined = CJK_LETTER.test(before)
    if (isJoined !== CJK_LETTER.test(after)) return /[\p{L}\p{N}]/u.test(isJoined ? after : before)
    if (!isJoined || !budget.spend(3_000)) return false
    const sentence = this.#sentences[rangeAt(this.#sentences, place)]!
    const from = Math.max(sentence.from, place - 40)
    const part = this.#text.slice(from, place + 20)
    if (/\p{Script=Hangul}/u.test(before)) return PARTICLE.test(this.#text.slice(place, place + 12))
    this.#segmenter ??= new Intl.Segmenter('zh', { granularity: 'word' })
    for (const { index } of this.#segmenter.segment(part)) if (from + index >= place) return from + index === place
    return false
  }

  /** Whether an everyday word stands in quotes, behind a sign such as `#`, or with a capital inside of a sentence. */
  #isMarked(wanted: string, at: number): boolean {
    const isPlain = PLAIN_WORDS.test(wanted)
    if ((!isPlain && !wanted.includes(' ')) || CJK_LETTER.test(wanted)) return true
    const text = this.#text
    const [before, after] = [text[at - 1] ?? ' ', text.slice(at + wanted.length, at + wanted.length + 2)]
    if (before === '#' || before === '@') return true
    if (QUOTE_MARKS.includes(before) && QUOTE_MARKS.includes(after.replace(/^[.,!?]/, '')[0] ?? ' ')) return true
    // A name of several words begins and ends with a capital or a digit.
    const ends = [wanted, wanted.slice(wanted.lastIndexOf(' ') + 1)]
    return wanted.length <= MAX_NAME_CHARS && !this.#isFirst(at) && NAME.test(ends[0]!) && /^[\p{Lu}\d]/u.test(ends[1]!)
  }

  /** Whether a sentence, or what follows a colon, begins at a place: there, a capital says nothing. */
  #isFirst(at: number): boolean {
    const sentence = this.#sentences[rangeAt(this.#sentences, at)]!
    const before = this.#text.slice(Math.max(sentence.from, at - 24), at)
    return !/\p{L}/u.test(before) || /:\s*$/.test(before)
  }

  #hasNumber(value: number): boolean {
    this.#numbers ??= this.#readNumbers()
    return this.#numbers.has(value)
  }

  #hasDay(day: string): boolean {
    this.#days ??= new Days(this.#text, (place) => this.#isBanned(place))
    return this.#days.has(day)
  }

  #readNumbers(): ReadonlySet<number> {
    const numbers = new Set<number>()
    const text = this.#text
    for (const { 0: written, index } of text.matchAll(NUMBER)) {
      const isPlain = PLAIN_NUMBER.test(written)
      if (!isPlain && !GROUPED_NUMBER.test(written)) continue
      if (!isNumberEdge(text, index, index + written.length) || this.#isBanned(index)) continue
      const address = this.#addresses[rangeAt(this.#addresses, index)]
      if (address && index < address.to) continue
      numbers.add(Number(written.replaceAll(',', '').replace('−', '-')))
    }
    return numbers
  }
}

function isNumberEdge(text: string, at: number, end: number): boolean {
  const before = text[at - 1] ?? ' '
  const next = text[end] ?? ' '
  const isStart = isBreak(text, at - 1) || CJK_LETTER.test(before) || (SIGNS.has(before) && isBreak(text, at - 2))
  const isEnd = isBreak(text, end) || CJK_LETTER.test(next) || ('.:%€$£¥'.includes(next) && isBreak(text, end + 1))
  return isStart && isEnd
}

/** Whether a character ends a word. A colon does not between digits; outside of the text there is nothing but breaks. */
function isBreak(text: string, at: number): boolean {
  const character = text[at]
  if (character === undefined || BREAKS.has(character)) return true
  return character === ':' && !(/\d/.test(text[at - 1] ?? '') && /\d/.test(text[at + 1] ?? ''))
}

const BUCKETS = 16_384

/** The places of a text by the first two characters there, each with the place before it. */
class Places {
  readonly #last = new Int32Array(BUCKETS).fill(-1)
  readonly #before: Int32Array

  constructor(text: string) {
    this.#before = new Int32Array(text.length).fill(-1)
    for (let at = 0; at < text.length - 1; at++) {
      const key = keyAt(text, at)
      this.#before[at] = this.#last[key]!
      this.#last[key] = at
    }
  }

  first(wanted: string): number {
    return this.#last[keyAt(wanted, 0)]!
  }

  next(place: number): number {
    return this.#before[place]!
  }
}

function keyAt(text: string, at: number): number {
  return (text.charCodeAt(at) * 31 + text.charCodeAt(at + 1)) % BUCKETS
}

/** The texts as one, with one spelling for addresses that programs take for the same. */
function joinTexts(texts: readonly string[]) {
  const ranges: Range[] = []
  const addresses: Range[] = []
  let joined = ''
  for (const given of texts) {
    // "And to bob@example.org" continues what the user said before.
    const last = continuesText(given) ? ranges.pop() : undefined
    if (joined !== '') joined += '\n\n'
    const from = joined.length
    // A sentence may begin without a blank before it.
    const text = normalise(given, MAX_WORDS_CHARS - from)
      .slice(0, Math.max(0, MAX_WORDS_CHARS - from))
      .replaceAll(/(?<=\p{Ll}[.!?])(?=\p{Lu}\p{Ll})/gu, ' ')
      .replaceAll(/[^\S\n]+/g, ' ')
      .replaceAll(/\n{3,}/g, '\n\n')
    let done = 0
    for (const { 0: found, index } of text.matchAll(ADDRESS)) {
      const address = found.replace(TRAILING, '')
      joined += text.slice(done, index)
      const at = joined.length
      joined += foldAddress(address)
      addresses.push({ from: at, to: joined.length })
      done = index + address.length
    }
    joined += text.slice(done)
    ranges.push({ from: last?.from ?? from, to: joined.length })
  }
  return { text: joined, ranges, addresses }
}

function foldValue(value: string): string {
  return foldAddress(value.replaceAll(/\s+/g, ' '))
}

/**
 * One spelling for an address. Case counts, but for the host of a URL and for mail addresses; so does the scheme, but for
 * `http` and `https`, which name the same pages.
 */
function foldAddress(address: string): string {
  if (!ODD_ADDRESS.test(address)) return address
  if (/^[^\s@/?#]+@[^\s@/?#]+$/.test(address)) return address.toLowerCase()
  const [, scheme, host, rest] = /^(https?:\/\/)?((?:www\.)?[^\s@/?#\\]+)((?:[/?#]\S*)?)$/i.exec(address) ?? []
  if (host === undefined || rest === undefined) return address
  const path = host.includes('.') && rest.endsWith('/') ? rest.slice(0, -1) : rest
  const isUrl = scheme !== undefined || /^www\./i.test(host)
  return `${isUrl ? host.toLowerCase().replace(/^www\./, '') : host}${path}`
}
