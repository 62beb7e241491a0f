import type { RateBucket, RateOutcome, RateStore } from '../../store.ts'
import { type BucketLevel, costIn, refill, waitFor } from '../rules/token-bucket.ts'
import { Recent } from './recent.ts'

/** Token buckets in memory; one that was forgotten to make room is full again. */
export class MemoryRates implements RateStore {
  readonly #levels: Recent<BucketLevel>

  constructor(max: number) {
    this.#levels = new Recent(max)
  }

  take(buckets: readonly RateBucket[], now: number, wanted = 1): RateOutcome {
    let emptiest: { readonly ok: false; readonly bucket: string; readonly waitMs: number } | undefined
    for (const bucket of buckets) {
      const level = refill(bucket, this.#levels.get(bucket.bucket), now)
      this.#levels.set(bucket.bucket, level)
      const waitMs = waitFor(bucket, level, costIn(bucket, wanted))
      if (waitMs > (emptiest?.waitMs ?? 0)) emptiest = { ok: false, bucket: bucket.bucket, waitMs }
    }
    if (emptiest) return emptiest
    for (const bucket of buckets) {
      const { tokens, filledAt } = this.#levels.get(bucket.bucket)!
      this.#levels.set(bucket.bucket, { tokens: tokens - costIn(bucket, wanted), filledAt })
    }
    return { ok: true }
  }
}
