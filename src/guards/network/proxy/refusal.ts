import { ToolError } from '../../../errors.ts'

/** What a client is told that does not get what it asked for. */
export interface Refusal {
  readonly status: number
  /** Short and ASCII, for the status line: Go and Python show nothing else. */
  readonly reason: string
  /** One line: what happened to which host, and what to do. */
  readonly text: string
}

const MOST_REASON_CHARS = 200
const BREAKS = /[\p{Cc}\u2028\u2029]+/gu
const NOT_ASCII = /[^\x20-\x7e]/g
const STATUS = new Map<string, number>([
  ['INPUT_SCHEMA_INVALID', 400],
  ['UPSTREAM_ERROR', 502],
  ['HTTP_TIMEOUT', 504],
  ['ABORTED', 502],
])

/** Says why there is no connection. Anything that is not an expected failure stays inside. */
export function toRefusal(error: unknown, asked: string): Refusal {
  const known = ToolError.is(error)
  const message = known ? error.message : 'The proxy failed.'
  const named = message.includes(asked) ? message : `${asked}: ${message}`
  return {
    status: statusOf(error),
    reason: named.replace(BREAKS, ' ').replace(NOT_ASCII, '?').slice(0, MOST_REASON_CHARS),
    text: `tool-hub: ${named}${known ? ` ${error.fix.hint}` : ''}`.replace(BREAKS, ' '),
  }
}

/** True when the answer was no; false when something that might have been allowed went wrong. */
export function isRefusal(error: unknown): boolean {
  return statusOf(error) < 500
}

/** A check that says no, or that cannot be made, is a no. */
function statusOf(error: unknown): number {
  return ToolError.is(error) ? (STATUS.get(error.code) ?? 403) : 500
}
