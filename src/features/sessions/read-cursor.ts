import { ToolError } from '../../core/index.ts'

/** The number that an earlier page gave as the place of the next one. */
export function readCursor(before: string | undefined): number | undefined {
  if (before === undefined) return undefined
  if (/^\d{1,16}$/.test(before)) return Number(before)
  throw new ToolError('INPUT_SCHEMA_INVALID', 'before is the next of an earlier page.', {
    hint: 'Leave it out for the newest ones.',
  })
}
