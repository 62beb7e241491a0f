import { type ErrorCode, ToolError } from './errors.ts'

/**
 * Why a call stops whose caller cannot be reached any more, or has had an answer in the meantime: what the call asked
 * people stays open, and the same call made again continues to wait for it.
 */
export function callerGone(
  message: string,
  { code = 'ABORTED', hint, details }: { code?: ErrorCode; hint?: string; details?: Record<string, unknown> } = {},
): ToolError {
  return new ToolError(code, message, { hint, details: { ...details, callerGone: true } })
}

/** Whether a call was stopped for that reason; false for one that somebody stopped on purpose. */
export function isCallerGone(reason: unknown): reason is ToolError {
  return ToolError.is(reason) && reason.details?.callerGone === true
}
