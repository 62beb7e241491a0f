import type { FetchOptions } from '../../contracts/handles.ts'
import { ToolError } from '../../errors.ts'
import type { NetworkCall } from './network-call.ts'
import type { RequestParts } from './request-parts.ts'

const BASE_MS = 200
const PASSING_STATUS = new Set([429, 502, 503, 504])

/** How often a request may be repeated: a GET or HEAD as often as its tool says, a POST only with its key and the owner's word. */
export function mostRetries(
  method: RequestParts['method'],
  { retries = 0 }: FetchOptions,
  { idempotencyKey, postRetries = 0 }: NetworkCall,
): number {
  if (method === 'GET' || method === 'HEAD') return retries
  return method === 'POST' && idempotencyKey !== undefined ? postRetries : 0
}

/** True for an answer that may be another one in a moment. */
export function isPassingStatus(status: number): boolean {
  return PASSING_STATUS.has(status)
}

/** True for a failure on the wire that may be gone in a moment. */
export function isPassingFailure(error: unknown): boolean {
  return ToolError.is(error) && error.code === 'UPSTREAM_ERROR' && error.retryable
}

/** How long to wait before repeating: twice as long each time, never the same for all, and no less than the server asks for. */
export function backoffMs(retry: number, retryAfter: string | undefined, now: number): number {
  const ms = BASE_MS * 2 ** retry * (0.5 + Math.random() / 2)
  return Math.max(ms, retryAfterMs(retryAfter, now))
}

function retryAfterMs(text: string | undefined, now: number): number {
  if (text === undefined) return 0
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now
  return Number.isNaN(ms) ? 0 : ms
}
