import { ToolError } from '../../core/index.ts'

/** Somebody is turned away: what to answer. */
export interface Refusal {
  readonly ok: false
  readonly status: 401 | 403 | 429 | 503
  readonly error: ToolError
  readonly headers: Readonly<Record<string, string>>
}

/** 401: nobody knows who it is. `invalid` when a token came that opens nothing. */
export function unauthenticated(
  message: string,
  { invalid = false, hint }: { invalid?: boolean; hint?: string } = {},
): Refusal {
  const challenge = `Bearer realm="tool-hub"${invalid ? ', error="invalid_token"' : ''}`
  const error = new ToolError('UNAUTHENTICATED', message, hint === undefined ? {} : { hint })
  return { ok: false, status: 401, error, headers: { 'www-authenticate': challenge } }
}

/** 403: it is known who asks, or from where, and the answer is no. */
export function forbidden(message: string, hint: string): Refusal {
  return { ok: false, status: 403, error: new ToolError('FORBIDDEN', message, { hint }), headers: {} }
}

/** 429: too often, with how long to wait. */
export function tooOften(message: string, waitMs: number): Refusal {
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000))
  const error = new ToolError('RATE_LIMITED', `${message}; wait ${waitMs} ms.`, { details: { retryAfterMs: waitMs } })
  return { ok: false, status: 429, error, headers: { 'retry-after': String(seconds) } }
}

/** The refusal that an error stands for, when a check could not run or says more than no; others are defects. */
export function refusalOf(thrown: unknown): Refusal {
  if (ToolError.is(thrown) && thrown.code === 'FORBIDDEN') return { ok: false, status: 403, error: thrown, headers: {} }
  if (ToolError.is(thrown) && thrown.code === 'UPSTREAM_ERROR')
    return { ok: false, status: 503, error: thrown, headers: { 'retry-after': '5' } }
  throw thrown
}
