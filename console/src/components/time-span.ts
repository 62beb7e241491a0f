const HOUR_MS = 3_600_000

/** How far back a list looks, by the name that the address has for it. */
const LENGTHS = new Map([
  ['hour', HOUR_MS],
  ['day', 24 * HOUR_MS],
  ['week', 7 * 24 * HOUR_MS],
  ['month', 30 * 24 * HOUR_MS],
])

/** The same as a `FilterSelect` offers it. */
export const TIME_SPANS: readonly (readonly [value: string, words: string])[] = [
  ['', 'Any time'],
  ['hour', 'Last hour'],
  ['day', 'Last 24 hours'],
  ['week', 'Last 7 days'],
  ['month', 'Last 30 days'],
]

/** How long a span is; 0 for any time. */
export function spanLength(name: string): number {
  return LENGTHS.get(name) ?? 0
}

/** When a day (`2027-01-31`) begins by the clocks of this machine, or so many days later; `undefined` for what is no day. */
export function startOfDay(day: string, later = 0): number | undefined {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day)
  if (!parts) return undefined
  return new Date(Number(parts[1]), Number(parts[2]) - 1, Number(parts[3]) + later).getTime()
}
