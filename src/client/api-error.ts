import type { ErrorCode, Fix } from '../core/index.ts'

/** Why the service did not do what it was asked; a failure of a tool is no such error but a result that is not `ok`. */
export class ApiError extends Error {
  /** The code of the error table; `UPSTREAM_ERROR` when no answer of the service came. */
  readonly code: ErrorCode
  /** Whether the same may work later. */
  readonly retryable: boolean
  /** What to do next; the hint is empty when the service gave none. */
  readonly fix: Fix
  /** HTTP status; 0 when there was no answer. */
  readonly status: number

  constructor(
    code: ErrorCode,
    message: string,
    { retryable = false, fix = { hint: '' }, status = 0, cause }: ApiErrorOptions = {},
  ) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'ApiError'
    this.code = code
    this.retryable = retryable
    this.fix = fix
    this.status = status
  }
}

/** What an `ApiError` may carry beside code and message. */
export interface ApiErrorOptions {
  /** Whether the same may work later. Default: `false`. */
  readonly retryable?: boolean
  /** What to do next. Default: an empty hint. */
  readonly fix?: Fix
  /** HTTP status. Default: 0, there was no answer. */
  readonly status?: number
  /** The error behind this one. */
  readonly cause?: unknown
}

/** The error of an answer that is not 2xx, whatever its body is: a proxy on the way may have written it. */
export function readApiError(status: number, body: unknown): ApiError {
  const { error } = (body ?? {}) as { error?: Partial<Pick<ApiError, 'code' | 'message' | 'retryable' | 'fix'>> }
  const { code = 'UPSTREAM_ERROR', message = `The service answered ${status}.`, fix } = error ?? {}
  const { retryable = status === 429 || status >= 500 } = error ?? {}
  return new ApiError(code, String(message), { retryable, status, fix })
}
