import type { Clock } from '../clock.ts'
import { ToolError } from '../errors.ts'
import type { Rate } from '../options.ts'

/** Token buckets for all calls together and for single tools; a bucket holds one second's worth unless `burst` says. */
export class RateLimiter {
  readonly #all: Bucket | undefined
  readonly #tools: ReadonlyMap<string, Bucket>
  readonly #clock: Clock

  constructor(limits: { readonly all?: Rate; readonly tools?: Readonly<Record<string, Rate>> }, clock: Clock) {
    this.#clock = clock
    this.#all = limits.all && newBucket(limits.all, 'All tools together', 'limits.rate', clock)
    this.#tools = new Map(
      Object.entries(limits.tools ?? {}).map(([tool, rate]) => [
        tool,
        newBucket(rate, tool, `limits.tools[${JSON.stringify(tool)}].rate`, clock),
      ]),
    )
  }

  /** Takes a token of every bucket that the call belongs to; a refused call takes none. */
  take(tool: string): void {
    const all = this.#all
    const own = this.#tools.get(tool)
    if (!all && !own) return
    const now = this.#clock.now()
    const emptiest = longerWait(all && refill(all, now), own && refill(own, now))
    if (emptiest) throw limited(emptiest)
    if (all) all.tokens -= 1
    if (own) own.tokens -= 1
  }
}

interface Bucket {
  readonly who: string
  readonly key: string
  readonly perSecond: number
  readonly burst: number
  tokens: number
  filledAt: number
}

/** What floating point may lose while a token is refilled in parts. */
const ROUNDING = 1e-6

function newBucket(rate: Rate, who: string, key: string, clock: Clock): Bucket {
  const burst = Math.max(1, rate.burst ?? Math.ceil(rate.perSecond))
  return { who, key, perSecond: rate.perSecond, burst, tokens: burst, filledAt: clock.now() }
}

/** Adds what time brought; a clock that was set back brings nothing. */
function refill(bucket: Bucket, now: number): Bucket {
  const elapsedMs = Math.max(0, now - bucket.filledAt)
  bucket.tokens = Math.min(bucket.burst, bucket.tokens + (elapsedMs / 1000) * bucket.perSecond)
  bucket.filledAt = now
  return bucket
}

function longerWait(a: Bucket | undefined, b: Bucket | undefined): Bucket | undefined {
  const first = a && !(a.tokens >= 1 - ROUNDING) ? a : undefined
  const second = b && !(b.tokens >= 1 - ROUNDING) ? b : undefined
  if (!first || !second) return first ?? second
  return waitMs(first) >= waitMs(second) ? first : second
}

function waitMs(bucket: Bucket): number {
  return Math.ceil(((1 - ROUNDING / 2 - bucket.tokens) / bucket.perSecond) * 1000)
}

function limited(bucket: Bucket): ToolError {
  const { who, key, perSecond, burst } = bucket
  const retryAfterMs = waitMs(bucket)
  const wait = Number.isFinite(retryAfterMs) ? `wait ${retryAfterMs} ms` : 'waiting will not help'
  return new ToolError('RATE_LIMITED', `${who}: at most ${perSecond} calls a second, ${burst} at once; ${wait}.`, {
    fix: { key, hint: `Wait as long as the message says, then call again, or have the owner raise ${key}.` },
    details: { retryAfterMs, perSecond, burst },
    retryable: Number.isFinite(retryAfterMs),
  })
}
