import type { Retry } from '../core/index.ts'

const MAX_DELAY_MS = 30_000
const DEFAULT_BASE_MS = 200

/**
 * How long to wait after the given attempt (the first is 1) failed: anything up to twice as long each time, so that
 * callers who failed together do not come back together. Never sooner than the server asked, never over 30 s.
 */
export function retryDelayMs(
  attempt: number,
  retry: Retry,
  random: () => number = Math.random,
  retryAfterMs?: number,
): number {
  const ceilingMs = Math.min(MAX_DELAY_MS, positive(retry.baseMs ?? DEFAULT_BASE_MS) * 2 ** Math.min(30, attempt - 1))
  return Math.min(MAX_DELAY_MS, Math.max(positive(retryAfterMs), Math.round(random() * ceilingMs)))
}

/** A server's `Retry-After` may be anything. */
function positive(ms: number | undefined): number {
  return Math.max(0, ms || 0)
}
