import type { RateOutcome, RateStore } from '../../store.ts'
import { costIn, fullAt, refill, waitFor } from '../rules/token-bucket.ts'
import type { Connection } from './connection.ts'

interface RateRow {
  readonly tokens: number
  readonly filled_at: number
}

/** Token buckets in the file. */
export function createRates(connection: Connection): RateStore {
  const find = connection.statement<RateRow>('SELECT tokens, filled_at FROM rates WHERE bucket = ?')
  const put = connection.statement(
    `INSERT INTO rates (bucket, tokens, filled_at, full_at) VALUES (?, ?, ?, ?)
     ON CONFLICT (bucket) DO UPDATE
     SET tokens = excluded.tokens, filled_at = excluded.filled_at, full_at = excluded.full_at`,
  )
  return {
    take(buckets, now, tokens = 1) {
      if (buckets.length === 0) return { ok: true }
      return connection.transaction((): RateOutcome => {
        const levels = buckets.map((bucket) => {
          const row = find.get(bucket.bucket)
          const level = refill(bucket, row && { tokens: row.tokens, filledAt: row.filled_at }, now)
          return {
            bucket,
            level,
            waitMs: waitFor(bucket, level, costIn(bucket, tokens)),
            isAhead: row !== undefined && row.filled_at > now,
          }
        })
        const emptiest = levels.reduce((most, other) => (other.waitMs > most.waitMs ? other : most))
        const isTaken = emptiest.waitMs === 0
        for (const { bucket, level, isAhead } of levels) {
          // A refusal changes nothing, unless the clock was set back: what was filled in the future stays empty till then.
          if (!isTaken && !isAhead) continue
          const left = { tokens: level.tokens - (isTaken ? costIn(bucket, tokens) : 0), filledAt: level.filledAt }
          put.run(bucket.bucket, left.tokens, left.filledAt, fullAt(bucket, left))
        }
        return isTaken ? { ok: true } : { ok: false, bucket: emptiest.bucket.bucket, waitMs: emptiest.waitMs }
      })
    },
  }
}
