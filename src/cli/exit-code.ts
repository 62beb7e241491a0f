import { ERRORS, type ErrorCode, type FailureStatus, type ToolResult } from '../core/index.ts'

/** What the exit code of a command says. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  denied: 3,
  unapproved: 4,
  interrupted: 130,
  terminated: 143,
} as const

/** Codes that say the command line or the config names what cannot be: no tool had a chance to fail. */
const OF_CODE: ReadonlyMap<ErrorCode, number> = new Map([
  ['TOOL_NOT_FOUND', EXIT.usage],
  ['CONFIG_INVALID', EXIT.usage],
])

const OF_STATUS: Record<FailureStatus, number> = {
  error: EXIT.failed,
  timeout: EXIT.failed,
  aborted: EXIT.failed,
  denied: EXIT.denied,
  approval_required: EXIT.unapproved,
}

/** Gravest first: a failure says more than a wrong name, that more than a missing answer, and that more than a denial. */
const GRAVITY = [EXIT.failed, EXIT.usage, EXIT.unapproved, EXIT.denied]

/** The exit code of a failure, whether it was thrown or is the result of a call. */
export function exitCodeOfFailure({ code }: { readonly code: ErrorCode }): number {
  return OF_CODE.get(code) ?? OF_STATUS[ERRORS[code].status]
}

/** The exit code that one result stands for. */
export function exitCodeOfResult(result: ToolResult): number {
  return result.ok ? EXIT.ok : exitCodeOfFailure(result.error)
}

/** The exit code of many results. */
export function worstExitCode(codes: ReadonlySet<number>): number {
  return GRAVITY.find((code) => codes.has(code)) ?? EXIT.ok
}
