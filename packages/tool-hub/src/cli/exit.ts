import { ERRORS, type ErrorCode, type FailureStatus, type ToolResult } from '@tool-hub/core'

/** The exit codes of a command. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  denied: 3,
  unapproved: 4,
  interrupted: 130,
  terminated: 143,
} as const

/** Codes that mean a mistake in the command line or the config, before any tool ran. */
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

/** Most serious first: a failure, a wrong name, a missing approval, a denial. */
const GRAVITY = [EXIT.failed, EXIT.usage, EXIT.unapproved, EXIT.denied]

/** The exit code of a failure, whether it was thrown or is the result of a call. */
export function exitCodeOfFailure({ code }: { readonly code: ErrorCode }): number {
  return OF_CODE.get(code) ?? OF_STATUS[ERRORS[code].status]
}

/** The exit code of one result. */
export function exitCodeOfResult(result: ToolResult): number {
  return result.ok ? EXIT.ok : exitCodeOfFailure(result.error)
}

/** The exit code of many results. */
export function worstExitCode(codes: ReadonlySet<number>): number {
  return GRAVITY.find((code) => codes.has(code)) ?? EXIT.ok
}

/** The command line is wrong; nothing was done. */
export class UsageError extends Error {
  readonly hint: string | undefined

  constructor(message: string, hint?: string) {
    super(message)
    this.name = 'UsageError'
    this.hint = hint
  }
}

let controller: AbortController | undefined
let code: number | undefined

/** A signal that aborts at the first Ctrl-C or SIGTERM, so that work can end in good order; the second ends the process immediately. */
export function interruptSignal(): AbortSignal {
  if (controller) return controller.signal
  controller = new AbortController()
  process.on('SIGINT', () => interrupt(EXIT.interrupted))
  process.on('SIGTERM', () => interrupt(EXIT.terminated))
  return controller.signal
}

/** Ends the work as Ctrl-C does; for prompts, which handle the key themselves. */
export function interrupt(exitCode: number = EXIT.interrupted): void {
  if (code !== undefined) process.exit(code)
  code = exitCode
  controller?.abort()
}

/** Replaces the exit code of an interrupted command that has ended in good order. */
export function endInterrupted(exitCode: number): void {
  code = exitCode
}

/** The exit code of an interrupted command; `undefined` if it was not interrupted. */
export function interruptCode(): number | undefined {
  return code
}
