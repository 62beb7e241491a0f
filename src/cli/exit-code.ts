import { ERRORS, type FailureStatus, ToolError } from '../errors.ts'
import type { ToolResult } from '../result.ts'

/** What the exit code of a command says. */
export const EXIT = { ok: 0, failed: 1, usage: 2, denied: 3, unapproved: 4, interrupted: 130 } as const

const OF_STATUS: Record<FailureStatus, number> = {
  error: EXIT.failed,
  timeout: EXIT.failed,
  aborted: EXIT.failed,
  denied: EXIT.denied,
  approval_required: EXIT.unapproved,
}

/** The exit code that one result stands for. */
export function exitCodeOfResult(result: ToolResult): number {
  return result.ok ? EXIT.ok : OF_STATUS[result.status]
}

/** The exit code of a thrown error: a command that could not begin is wrong usage or configuration. */
export function exitCodeOfError(error: unknown): number {
  if (!ToolError.is(error)) return EXIT.failed
  if (error.code === 'CONFIG_INVALID' || error.code === 'TOOL_NOT_FOUND' || error.code === 'NOT_FOUND')
    return EXIT.usage
  return OF_STATUS[ERRORS[error.code].status]
}

/** The code of many results: a failure says more than a missing answer, and that more than a denial. */
export function worstExitCode(codes: Iterable<number>): number {
  const seen = new Set(codes)
  return [EXIT.failed, EXIT.unapproved, EXIT.denied].find((code) => seen.has(code)) ?? EXIT.ok
}
