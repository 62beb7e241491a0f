import { parseAmount, TIME_UNITS } from '../../value/parse-amount.ts'
import { invalidSchedule } from './invalid-schedule.ts'

/** Milliseconds of `90s`, `15m`, `1h`, `1d`. */
export function parseInterval(text: string): number {
  const ms = parseAmount(text, TIME_UNITS)
  if (ms !== undefined) return ms
  throw invalidSchedule(`every ${JSON.stringify(text)} is not an interval.`, 'Use 90s, 15m, 1h or 1d.')
}
