import { UsageError } from '../usage-error.ts'

/** A whole number above 0, as an option gives it. */
export function parseCount(option: string, text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new UsageError(`${option} ${JSON.stringify(text)} is not a number.`, 'Use a whole number above 0.')
}
