// Made once: a format costs more than all the rest of a row. Every clock of the console counts to 24.
const EXACT = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long', hourCycle: 'h23' })
const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short', hourCycle: 'h23' })
const CLOCK = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })

/** A time with its date: “Nov 16, 2026, 17:05”. */
export function formatDate(at: number | Date): string {
  return DATE.format(at)
}

/** The same to the second, with the weekday and the zone. */
export function formatExactly(at: number | Date): string {
  return EXACT.format(at)
}

/** A time of the day: “17:05”. */
export function formatClock(at: number | Date): string {
  return CLOCK.format(at)
}
