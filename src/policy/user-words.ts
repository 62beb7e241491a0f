/** A shorter text says too little: `to`, `me` and `5` occur everywhere. */
const MIN_CHARS = 3
/** A longer value is not looked for. */
const MAX_CHARS = 16_384
/** Characters that end a word. A dot ends one only before a blank, and a colon not between digits. */
const BREAK = String.raw`[\s"'\u0060“”‘’«»„()[\]{}<>,;!?=|*…]`
/** Signs that may stand before a name or an amount. `~` before a slash is a folder. */
const SIGN = String.raw`(?:[#@$€£¥+]|~(?!\/))`
/** What stands before a word, with the first character of the word at the end. */
const BEFORE = new RegExp(String.raw`(?:^|${BREAK}|:(?!\d)|(?<!\d):)${SIGN}?(?=[^]$)`, 'u')
const AFTER = new RegExp(`^(?:$|${BREAK}|[.:](?:$|${BREAK})|[%€$£¥](?:$|[.:]?${BREAK})|[.:%]$)`, 'u')
const NUMBER = /[-−]?\d[\d.,]*\d|\d/gu
const PLAIN_NUMBER = /^[-−]?\d+(?:\.\d+)?$/
const GROUPED_NUMBER = /^[-−]?\d{1,3}(?:,\d{3})+(?:\.\d+)?$/
const SCHEME = new RegExp(String.raw`(?<=^|:|${BREAK})(?:https?|ftp|mailto):(?:\/\/)?`, 'gu')
/** Blanks that nobody types: some of them are not even seen. */
const ODD_BLANK = /[^\S \t\n\r]/
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const MONTH =
  '(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)'
const ORDINAL = String.raw`(\d{1,2})(?:st|nd|rd|th)?`
const MONTH_DAY = new RegExp(String.raw`\b${MONTH}\.? ${ORDINAL}(?!\d)`, 'g')
const DAY_MONTH = new RegExp(String.raw`(?<!\d)${ORDINAL} (?:of )?${MONTH}\b`, 'g')
const ISO_DAY = /(?<![\d-])((?:19|20)\d\d-\d\d-\d\d)(?![\d-])/g
/** A day, with or without a time. */
const MOMENT = /^(\d{4}-\d\d-\d\d)(?:[t ](\d\d:\d\d)(?::\d\d(?:\.\d+)?)?z?)?$/i
/** Most places of one value that are looked at. */
const MAX_PLACES = 1_000

/** The user's own words, in which the values of calls are looked for. */
export class UserWords {
  readonly #text: string
  readonly #numbers: ReadonlySet<number>
  readonly #days: ReadonlySet<string>

  constructor(texts: readonly string[]) {
    // A sentence may begin without a blank before it.
    const spaced = texts.map((text) => text.replaceAll(/(?<=\p{Ll}[.!?])(?=\p{Lu}\p{Ll})/gu, ' '))
    this.#text = spaced.map(foldWords).join('\n')
    this.#numbers = numbersIn(this.#text)
    this.#days = daysIn(this.#text)
  }

  /** Whether there are none. */
  get isEmpty(): boolean {
    return this.#text === ''
  }

  /**
   * Whether the value occurs in them: a text as whole words, a number by its value, everything in a list. Case, blanks and
   * the scheme of URLs do not count. An object never does: its keys are values, too.
   */
  has(value: unknown): boolean {
    if (typeof value === 'number') return this.#numbers.has(value)
    if (typeof value === 'string') return this.#hasText(value)
    return Array.isArray(value) && value.length > 0 && value.every((part) => this.has(part))
  }

  #hasText(value: string): boolean {
    if (value.length > MAX_CHARS) return false
    // A name in other letters or with other blanks is another name, however similar they look.
    if (value.normalize('NFKC') !== value || value.trim() !== value || ODD_BLANK.test(value)) return false
    const wanted = foldWords(value).replace(/\/$/, '')
    if (wanted.length < MIN_CHARS) return false
    const moment = MOMENT.exec(wanted)
    if (moment && this.#hasMoment(moment[1]!, moment[2])) return true
    return this.#occurs(wanted)
  }

  /** A day may be spelt in another way, and the time need not stand beside it. */
  #hasMoment(day: string, time: string | undefined): boolean {
    return this.#days.has(day) && (time === undefined || this.#occurs(time))
  }

  #occurs(wanted: string): boolean {
    let from = 0
    for (let places = 0; places < MAX_PLACES; places++) {
      const at = this.#text.indexOf(wanted, from)
      if (at === -1) return false
      const end = at + wanted.length
      const after = this.#text.slice(this.#text[end] === '/' ? end + 1 : end, end + 4)
      if (BEFORE.test(this.#text.slice(Math.max(0, at - 3), at + 1)) && AFTER.test(after)) return true
      from = at + 1
    }
    return false
  }
}

/** The day of a date or a time as ISO 8601; `undefined` for anything else. */
export function dayOf(value: unknown): string | undefined {
  return typeof value === 'string' ? MOMENT.exec(value)?.[1] : undefined
}

/** The days in a text, as ISO 8601. Where the year stands elsewhere, every year of the text counts. */
function daysIn(text: string): ReadonlySet<string> {
  const days = new Set<string>()
  for (const [, day] of text.matchAll(ISO_DAY)) days.add(day!)
  const years = new Set(Array.from(text.matchAll(/(?<![\d.-])(?:19|20)\d\d(?![\d-])/g), ([year]) => year))
  const dates = new Set<string>()
  const add = (month: string, day: string) => {
    const number = MONTHS.indexOf(month.slice(0, 3)) + 1
    dates.add(`${String(number).padStart(2, '0')}-${day.padStart(2, '0')}`)
  }
  for (const [, month, day] of text.matchAll(MONTH_DAY)) add(month!, day!)
  for (const [, day, month] of text.matchAll(DAY_MONTH)) add(month!, day!)
  for (const year of years) for (const date of dates) days.add(`${year}-${date}`)
  return days
}

/** One spelling for texts that people take for the same. */
function foldWords(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(SCHEME, '')
    .replaceAll(/(?<![\p{L}\p{N}.-])www\./gu, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

function numbersIn(text: string): ReadonlySet<number> {
  const numbers = new Set<number>()
  for (const { 0: written, index } of text.matchAll(NUMBER)) {
    const end = index + written.length
    if (!BEFORE.test(text.slice(Math.max(0, index - 3), index + 1)) || !AFTER.test(text.slice(end, end + 4))) continue
    if (PLAIN_NUMBER.test(written)) numbers.add(Number(written.replace('−', '-')))
    else if (GROUPED_NUMBER.test(written)) numbers.add(Number(written.replaceAll(',', '').replace('−', '-')))
  }
  return numbers
}
