const NICKNAMES = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
])
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
] as const
const JOINED = new Intl.ListFormat('en', { type: 'conjunction' })

/** Describes common cron expressions; undefined for others. */
export function describeCron(expression: string): string | undefined {
  const fields = (NICKNAMES.get(expression.trim().toLowerCase()) ?? expression).trim().split(/\s+/)
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = fields.length === 6 ? fields.slice(1) : fields
  if (fields.length !== 5 && !(fields.length === 6 && fields[0] === '0')) return undefined
  const time = describeTime(minute, hour)
  const days = describeDays(day, month, weekday)
  if (time === undefined || days === undefined) return undefined
  if (days === '') return time.startsWith('at') ? `every day ${time}` : time
  return `${days} ${time}`
}

function describeTime(minute: string, hour: string): string | undefined {
  const minutes = readStep(minute)
  const hours = readStep(hour)
  if (hour === '*' && minutes !== undefined) return minutes === 1 ? 'every minute' : `every ${minutes} minutes`
  if (!/^\d{1,2}$/.test(minute)) return undefined
  const past = minute.padStart(2, '0')
  if (hours === 1) return `every hour at :${past}`
  if (hours !== undefined) return `every ${hours} hours at :${past}`
  if (!/^\d{1,2}(,\d{1,2}){0,3}$/.test(hour)) return undefined
  return `at ${JOINED.format(hour.split(',').map((each) => `${each.padStart(2, '0')}:${past}`))}`
}

function describeDays(day: string, month: string, weekday: string): string | undefined {
  const months = month === '*' ? '' : nameOf(MONTHS, month, 1)
  const isAnyDay = day === '*' || day === '?'
  const isAnyWeekday = weekday === '*' || weekday === '?'
  if (months === undefined || (!isAnyDay && !isAnyWeekday)) return undefined
  if (!isAnyDay) {
    if (!/^\d{1,2}$/.test(day))
      return day.toUpperCase() === 'L' && months === '' ? 'on the last day of the month' : undefined
    return months === '' ? `on day ${Number(day)} of the month` : `on ${months} ${Number(day)}`
  }
  if (isAnyWeekday) return months === '' ? '' : `every day of ${months}`
  const weekdays = describeWeekdays(weekday)
  if (weekdays === undefined) return undefined
  return months === '' ? weekdays : `${weekdays} in ${months}`
}

function describeWeekdays(weekday: string): string | undefined {
  const [from, to, ...rest] = weekday.split('-')
  if (to !== undefined && rest.length === 0) {
    const [first, last] = [nameOf(DAYS, from ?? '', 0), nameOf(DAYS, to, 0)]
    return first === undefined || last === undefined ? undefined : `${first} to ${last}`
  }
  const names = weekday.split(',').map((each) => nameOf(DAYS, each, 0))
  return names.includes(undefined) ? undefined : `every ${JOINED.format(names as string[])}`
}

/** The name for `3`, `MON`, or `7` for Sunday. */
function nameOf(names: readonly string[], text: string, first: number): string | undefined {
  const isNumber = /^\d{1,2}$/.test(text)
  if (isNumber) return names[(Number(text) - first) % (names.length === 7 ? 7 : Number.POSITIVE_INFINITY)]
  return text.length === 3 ? names.find((name) => name.toLowerCase().startsWith(text.toLowerCase())) : undefined
}

/** 1 for `*`, 15 for the asterisk followed by `/15`. */
function readStep(field: string): number | undefined {
  if (field === '*') return 1
  const [, step] = /^\*\/(\d{1,2})$/.exec(field) ?? []
  return step === undefined ? undefined : Number(step)
}

/** The most descriptive argument names, in order. */
const TELLING = ['command', 'path', 'url', 'from', 'query', 'pattern', 'task', 'text', 'content', 'code', 'name', 'key']
const MAX_CHARS = 300

/** The most descriptive argument of a call, on one line; `undefined` if it has no arguments. */
export function tellingArgument(input: unknown): string | undefined {
  if (input === undefined || input === null) return undefined
  if (typeof input !== 'object' || Array.isArray(input)) return asLine(input)
  const given = Object.entries(input).filter(([, value]) => value !== undefined && value !== null)
  const known = TELLING.flatMap((name) => given.filter(([key]) => key === name))
  const [name, value] = known[0] ?? given.find(([, each]) => typeof each === 'string') ?? given[0] ?? []
  if (name === undefined) return undefined
  return known.length > 0 ? asLine(value) : `${name}: ${asLine(value)}`
}

function asLine(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length > MAX_CHARS ? `${line.slice(0, MAX_CHARS)}…` : line
}

/** A time in a time zone; in local time if the browser does not know the zone. */
export function formatInZone(at: number, timeZone: string): string {
  return formatFor(timeZone, 'whole').format(at)
}

/** The weekday and hour of a time, for times within a day. */
export function formatNear(at: number, timeZone: string): string {
  return formatFor(timeZone, 'near').format(at)
}

/** A time as the value of a date field: `2027-01-31T09:00`. */
export function toDateField(at: number, timeZone: string): string {
  const parts = new Map(
    fieldsFor(timeZone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  )
  const get = (name: Intl.DateTimeFormatPartTypes) => parts.get(name) ?? ''
  return `${get('year')}-${get('month')}-${get('day')}T${get('hour')}:${get('minute')}`
}

const SHAPES = {
  whole: { dateStyle: 'medium', timeStyle: 'short', hourCycle: 'h23' },
  near: { weekday: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
} as const
const formats = new Map<string, Intl.DateTimeFormat>()

// Created once per zone: creating a format costs more than rendering a row.
function formatFor(timeZone: string, shape: keyof typeof SHAPES): Intl.DateTimeFormat {
  const key = `${shape} ${timeZone}`
  const known = formats.get(key)
  if (known) return known
  const format = make(SHAPES[shape], timeZone)
  formats.set(key, format)
  return format
}

function fieldsFor(timeZone: string): Intl.DateTimeFormat {
  const two = '2-digit'
  return make({ year: 'numeric', month: two, day: two, hour: two, minute: two, hourCycle: 'h23' }, timeZone, 'en')
}

function make(shape: Intl.DateTimeFormatOptions, timeZone: string, locale?: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat(locale, { ...shape, timeZone })
  } catch {
    // This browser does not know the zone.
    return new Intl.DateTimeFormat(locale, shape)
  }
}
