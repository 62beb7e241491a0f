import type { ErrorCode } from '../../../errors.ts'

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

/** The HTTP status of a failure that is not the result of a call. */
export function statusOf(code: ErrorCode): number {
  return STATUSES[code] ?? 500
}
