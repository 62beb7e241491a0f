import type { RateBucket } from '../../store.ts'

/** What a bucket holds, and when that was true. */
export interface BucketLevel {
  readonly tokens: number
  readonly filledAt: number
}

/** What floating point may lose while a token is refilled in parts. */
const ROUNDING = 1e-6

/** What a bucket holds now: a new one is full, and a clock that was set back brings nothing. */
export function refill({ perSecond, burst }: RateBucket, level: BucketLevel | undefined, now: number): BucketLevel {
  const most = Math.max(1, burst)
  if (!level) return { tokens: most, filledAt: now }
  const elapsedMs = Math.max(0, now - level.filledAt)
  return { tokens: Math.min(most, level.tokens + (elapsedMs / 1000) * perSecond), filledAt: now }
}

/** What a call takes of a bucket: never more than fits into it, so that every call gets its turn. */
export function costIn({ burst }: RateBucket, wanted: number): number {
  return Math.min(wanted, Math.max(1, burst))
}

/** How long until the bucket has so many tokens; 0 when it has them, `Infinity` when it never will. */
export function waitFor({ perSecond }: RateBucket, { tokens }: BucketLevel, wanted = 1): number {
  if (tokens >= wanted - ROUNDING) return 0
  const waitMs = Math.ceil(((wanted - ROUNDING / 2 - tokens) / perSecond) * 1000)
  return waitMs > 0 ? waitMs : Number.POSITIVE_INFINITY
}

/** When it will be full, and so like one that nobody has used. */
export function fullAt({ perSecond, burst }: RateBucket, { tokens, filledAt }: BucketLevel): number {
  const at = filledAt + Math.ceil(((Math.max(1, burst) - tokens) / perSecond) * 1000)
  return at < Number.MAX_SAFE_INTEGER ? at : Number.MAX_SAFE_INTEGER
}
