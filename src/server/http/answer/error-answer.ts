import { type ErrorCode, ToolError } from '../../../core/index.ts'
import { HttpRefusal } from './http-refusal.ts'
import { API_HEADERS } from './security-headers.ts'

const STATUSES: Partial<Record<ErrorCode, number>> = {
  INPUT_SCHEMA_INVALID: 400,
  CONFIG_INVALID: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  POLICY_DENIED: 403,
  TOOL_DISABLED: 403,
  PATH_DENIED: 403,
  PATH_OUTSIDE_SANDBOX: 403,
  APPROVAL_DENIED: 403,
  NOT_FOUND: 404,
  TOOL_NOT_FOUND: 404,
  CONFLICT: 409,
  FILE_TOO_LARGE: 413,
  RATE_LIMITED: 429,
  BUDGET_EXCEEDED: 429,
  ABORTED: 503,
  CLIENT_GONE: 503,
  OUT_OF_RESOURCES: 503,
  RECORDS_UNAVAILABLE: 503,
  SANDBOX_UNAVAILABLE: 503,
  TIMEOUT: 504,
}

/** The parts of an answer that says what is wrong. */
export interface ErrorAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const UNEXPECTED = new ToolError('INTERNAL', 'The service failed at this request; its log says why.', {
  hint: 'Try again; give the owner the time of the request if it stays.',
})

/** What to answer to anything thrown; a failure that nobody expected is told to `report`, not to the client. */
export function errorAnswer(thrown: unknown, report: (error: unknown) => void): ErrorAnswer {
  const isExpected = ToolError.is(thrown) && thrown.code !== 'INTERNAL'
  if (!isExpected) report(thrown)
  const error = isExpected ? thrown : UNEXPECTED
  const { code, message, retryable, fix } = error
  const own = error instanceof HttpRefusal ? error.headers : undefined
  return {
    status: error instanceof HttpRefusal ? error.status : statusOf(code),
    headers: { ...API_HEADERS, 'content-type': 'application/json', ...own },
    body: JSON.stringify({ error: { code, message, retryable, fix } }),
  }
}

/** The HTTP status of a failure that is not the result of a call. */
function statusOf(code: ErrorCode): number {
  return STATUSES[code] ?? 500
}
