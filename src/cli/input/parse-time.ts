import { parseDuration } from '../../config/index.ts'
import { UsageError } from '../usage-error.ts'

/** Milliseconds of `10s`, as an option gives them. */
export function parseTime(option: string, text: string): number {
  try {
    return parseDuration(text)
  } catch {
    throw new UsageError(`${option} ${JSON.stringify(text)} is not a time.`, 'Use 250ms, 60s, 5m, 1h or 1d.')
  }
}
