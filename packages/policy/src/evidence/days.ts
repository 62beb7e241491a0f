const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const MONTH =
  '(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)'
const ORDINAL = String.raw`(\d{1,2})(?:st|nd|rd|th)?`
const MONTH_DAY = new RegExp(String.raw`\b${MONTH}\.? ${ORDINAL}(?!\d)`, 'gi')
const DAY_MONTH = new RegExp(String.raw`(?<!\d)${ORDINAL} (?:of )?${MONTH}\b`, 'gi')
/** In Chinese and Japanese, and in Korean. */
const CJK_DAY = /(?:((?:19|20)\d\d) ?[年년] ?)?(\d{1,2}) ?[月월] ?(\d{1,2}) ?[日号號일]/g
const ISO_DAY = /(?<![\d-])((?:19|20)\d\d-\d\d-\d\d)(?![\d-])/g
const YEAR = /(?<![\d.-])(?:19|20)\d\d(?![\d-])/g
/** A day, with or without a time. */
const MOMENT = /^(\d{4}-\d\d-\d\d)(?:[t ](\d\d:\d\d)(?::\d\d(?:\.\d+)?)?z?)?$/i

/** The day of a date or a time as ISO 8601, and its time; `undefined` for anything else. */
export function momentOf(value: unknown): { readonly day: string; readonly time?: string } | undefined {
  const [, day, time] = (typeof value === 'string' && value.length < 40 && MOMENT.exec(value)) || []
  return day === undefined ? undefined : { day, time }
}

/** The days in a text. Where the year stands elsewhere, every year of the text counts. */
export class Days {
  readonly #days = new Set<string>()
  readonly #dates = new Set<string>()
  readonly #years = new Set<string>()

  constructor(text: string, isBanned: (place: number) => boolean) {
    for (const { 1: day, index } of text.matchAll(ISO_DAY)) if (!isBanned(index)) this.#days.add(day!)
    for (const { 0: year, index } of text.matchAll(YEAR)) if (!isBanned(index)) this.#years.add(year)
    const add = (month: string | number, day: string, index: number) => {
      if (!isBanned(index)) this.#dates.add(`${String(month).padStart(2, '0')}-${day.padStart(2, '0')}`)
    }
    const number = (month: string) => MONTHS.indexOf(month.slice(0, 3).toLowerCase()) + 1
    for (const { 1: month, 2: day, index } of text.matchAll(MONTH_DAY)) add(number(month!), day!, index)
    for (const { 1: day, 2: month, index } of text.matchAll(DAY_MONTH)) add(number(month!), day!, index)
    for (const { 1: year, 2: month, 3: day, index } of text.matchAll(CJK_DAY)) {
      add(month!, day!, index)
      if (year !== undefined && !isBanned(index)) this.#years.add(year)
    }
  }

  /** Whether the text names a day, given as ISO 8601. */
  has(day: string): boolean {
    return this.#days.has(day) || (this.#years.has(day.slice(0, 4)) && this.#dates.has(day.slice(5)))
  }
}
