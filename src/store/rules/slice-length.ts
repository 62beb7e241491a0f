import { ToolError } from '../../errors.ts'

/** The longest answer that is still a picture. */
export const MOST_SLICES = 10_000

/** The length of a slice of time as it is counted: a whole number of milliseconds. */
export function sliceLength(sliceMs: number): number {
  if (Number.isInteger(sliceMs) && sliceMs > 0) return sliceMs
  throw new ToolError('INPUT_SCHEMA_INVALID', `A slice of time has a whole number of milliseconds, not ${sliceMs}.`, {
    hint: 'Use 60000 for a minute.',
  })
}
