import { ToolError } from '../../core/index.ts'

/** What is wrong with what somebody said about a schedule. */
export function invalidSchedule(message: string, hint?: string): ToolError {
  return new ToolError('INPUT_SCHEMA_INVALID', message, hint === undefined ? {} : { hint })
}
