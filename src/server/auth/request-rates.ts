import { LRUCache } from 'lru-cache'
import type { Clock, Rate } from '../../core/index.ts'

interface Bucket {
  tokens: number
  filledAt: number
}

const MAX_BUCKETS = 10_000
const USUAL: Required<Rate> = { perSecond: 1_000, burst: 2_000 }

/**
 * A token bucket a principal, in the memory of this process: a shared one would cost a write a request. Several
 * processes on one store thus let through as much each; what a principal may use in all is its budget's to say.
 */
export class RequestRates {
  readonly #usual: Rate
  readonly #clock: Clock
  readonly #buckets = new LRUCache<string, Bucket>({ max: MAX_BUCKETS })

  constructor(clock: Clock, usual: Rate = USUAL) {
    this.#clock = clock
    this.#usual = usual
  }

  /** Takes one request of a principal; how long it has to wait when there is none left, else 0. */
  take(principal: string, rate: Rate = this.#usual): number {
    const { perSecond } = rate
    const burst = Math.max(1, rate.burst ?? perSecond)
    const now = this.#clock.now()
    const bucket = this.#buckets.get(principal) ?? this.#open(principal, burst, now)
    const grown = bucket.tokens + (Math.max(0, now - bucket.filledAt) / 1_000) * perSecond
    bucket.tokens = Math.min(burst, grown)
    bucket.filledAt = now
    if (bucket.tokens < 1) return Math.ceil(((1 - bucket.tokens) / perSecond) * 1_000)
    bucket.tokens -= 1
    return 0
  }

  #open(principal: string, tokens: number, now: number): Bucket {
    const bucket = { tokens, filledAt: now }
    this.#buckets.set(principal, bucket)
    return bucket
  }
}
