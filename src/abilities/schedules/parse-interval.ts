import { invalidSchedule } from './invalid-schedule.ts'

const UNITS: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['min', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
])
const INTERVAL = /^(\d{1,12}(?:\.\d{1,6})?) ?([a-z]{1,3})$/

/** Milliseconds of `90s`, `15m`, `1h`, `1d`. */
export function parseInterval(text: string): number {
  const [, count, unit = ''] = INTERVAL.exec(text) ?? []
  const ms = Math.round(Number(count) * (UNITS.get(unit) ?? Number.NaN))
  if (Number.isSafeInteger(ms) && ms >= 1) return ms
  throw invalidSchedule(`every ${JSON.stringify(text)} is not an interval.`, 'Use 90s, 15m, 1h or 1d.')
}
