/** A short duration: 0.8 ms, 840 ms, 3.2 s, 4 min 12 s, 3 h 5 min, 2 d 4 h. */
export function formatDuration(ms: number): string {
  if (ms < 0 || !Number.isFinite(ms)) return '–'
  if (ms < 10) return `${trim(ms)} ms`
  if (ms < 999.5) return `${Math.round(ms)} ms`
  if (ms < 59_950) return `${trim(ms / 1_000)} s`
  const [days, hours, minutes, seconds] = split(Math.round(ms / 1_000))
  if (days > 0) return join(days, 'd', hours, 'h')
  if (hours > 0) return join(hours, 'h', minutes, 'min')
  return join(minutes, 'min', seconds, 's')
}

function trim(value: number): string {
  return value.toFixed(1).replace(/\.0$/, '')
}

function split(seconds: number): [number, number, number, number] {
  return [Math.floor(seconds / 86_400), Math.floor(seconds / 3_600) % 24, Math.floor(seconds / 60) % 60, seconds % 60]
}

function join(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`
}

const UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB'] as const

/** A short size: 1 byte, 840 bytes, 12.4 KB, 3 MB. */
export function formatBytes(bytes: number): string {
  if (!Number.isFinite(bytes) || bytes < 0) return '–'
  if (bytes === 1) return '1 byte'
  let value = bytes
  let unit = 0
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1_000
    unit += 1
  }
  return `${value.toFixed(1).replace(/\.0$/, '')} ${UNITS[unit]}`
}

// Created once: creating a format costs more than rendering a row. All times use the 24-hour clock.
const EXACT = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long', hourCycle: 'h23' })
const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short', hourCycle: 'h23' })
const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })
const CLOCK = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })

/** A time with its date: “Nov 16, 2026, 17:05”. */
export function formatDate(at: number | Date): string {
  return DATE.format(at)
}

/** A date: “Nov 16, 2026”. */
export function formatDay(at: number | Date): string {
  return DAY.format(at)
}

/** A time to the second, with weekday and time zone. */
export function formatExactly(at: number | Date): string {
  return EXACT.format(at)
}

/** A time of the day: “17:05”. */
export function formatClock(at: number | Date): string {
  return CLOCK.format(at)
}

const HOUR_MS = 3_600_000

/** The length of a time span by its name in the address. */
const LENGTHS = new Map([
  ['hour', HOUR_MS],
  ['day', 24 * HOUR_MS],
  ['week', 7 * 24 * HOUR_MS],
  ['month', 30 * 24 * HOUR_MS],
])

/** The time spans as options of a `FilterSelect`. */
export const TIME_SPANS: readonly (readonly [value: string, words: string])[] = [
  ['', 'Any time'],
  ['hour', 'Last hour'],
  ['day', 'Last 24 hours'],
  ['week', 'Last 7 days'],
  ['month', 'Last 30 days'],
]

/** The length of a time span in milliseconds; 0 for any time. */
export function spanLength(name: string): number {
  return LENGTHS.get(name) ?? 0
}

/** The start of a day (`2027-01-31`) in local time, or of a later day; `undefined` if it is not a date. */
export function startOfDay(day: string, later = 0): number | undefined {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day)
  if (!parts) return undefined
  return new Date(Number(parts[1]), Number(parts[2]) - 1, Number(parts[3]) + later).getTime()
}
