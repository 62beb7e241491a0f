import type {
  BudgetLimits,
  BudgetOutcome,
  BudgetStore,
  KeyState,
  KeyStore,
  RateBucket,
  RateOutcome,
  RateStore,
  Usage,
} from '@tool-hub/core'
import {
  all,
  column,
  defineTable,
  type Entity,
  get,
  optional,
  type Repository,
  run,
  transaction,
  type Work,
} from '@tool-hub/core/sql'

/** Written with every call, so the sweep has no index of times: each would cost one more page at every write. */
export const KEYS = defineTable('idempotency_keys', 1, {
  name: column.text({ key: true }),
  argsHash: column.text(),
  state: column.text<KeyState['state']>(),
  owner: column.text(),
  expiresAt: optional.bigint(),
  result: optional.text(),
})
const STATE = KEYS.part('argsHash', 'state', 'owner', 'result', 'expiresAt') satisfies Entity<KeyState>
const FIND_KEY = `${STATE.select} WHERE name = ?`
const CLAIM_KEY = `INSERT INTO idempotency_keys (name, args_hash, state, owner) VALUES (?, ?, 'running', ?)
 ON CONFLICT (name) DO UPDATE
 SET args_hash = excluded.args_hash, state = excluded.state, owner = excluded.owner, result = NULL, expires_at = NULL
 WHERE idempotency_keys.state = 'finished' AND idempotency_keys.expires_at <= ?`

const FINISH_KEY = `UPDATE idempotency_keys SET state = 'finished', result = ?, expires_at = ?
 WHERE name = ? AND owner = ? AND state = 'running'`
/** A process that has lost the run must not hand out a result that the record of the run does not have. */
const FINISH_HELD = `UPDATE idempotency_keys SET state = 'finished', result = CASE
 WHEN EXISTS (SELECT 1 FROM run_states WHERE run = ? AND run_states.owner = ? AND epoch = ?) THEN ? ELSE NULL END,
 expires_at = ? WHERE name = ? AND owner = ? AND state = 'running'`

/** Idempotency keys. */
export const keys: Repository<KeyStore> = {
  look: findKey,
  *claim(key, { argsHash, owner, now }) {
    // Its owner may release the key between the two statements; then it is free.
    for (;;) {
      if ((yield* run(CLAIM_KEY, key, argsHash, owner, now)) === 1) return undefined
      const held = yield* findKey(key)
      if (held) return held
    }
  },
  *finish(key, { owner, result, expiresAt, held }) {
    if (held) yield* run(FINISH_HELD, held.run, held.owner, held.epoch, result, expiresAt, key, owner)
    else yield* run(FINISH_KEY, result, expiresAt, key, owner)
  },
  *release(key, owner) {
    yield* run(`DELETE FROM idempotency_keys WHERE name = ? AND owner = ? AND state = 'running'`, key, owner)
  },
}

/** As for idempotency keys, there is no index of times. */
export const BUDGETS = defineTable('budgets', 1, {
  account: column.text({ key: true }),
  calls: column.bigint(),
  wallMs: column.double(),
  bytes: column.double(),
  cost: column.double(),
  expiresAt: optional.bigint(),
})
/** What a process of several machines takes of a budget in advance; `recalled` if another one needs what is left of it. */
export const BUDGET_BLOCKS = defineTable(
  'budget_blocks',
  23,
  {
    account: column.text(),
    owner: column.text(),
    calls: column.bigint(),
    cost: column.double(),
    leasedUntil: column.bigint(),
    recalled: column.flag(),
  },
  { key: ['account', 'owner'], indexes: { expiry: ['leasedUntil'] } },
)
const USAGE = BUDGETS.part('calls', 'wallMs', 'bytes', 'cost') satisfies Entity<Usage>
/** The columns that `toUsage` reads. */
export const USAGE_COLUMNS: string = USAGE.columns
const FIND_USAGE = `${USAGE.select} WHERE account = ?`
const COUNT_CALL = `INSERT INTO budgets (account, calls, wall_ms, bytes, cost, expires_at) VALUES (?, 1, 0, 0, ?, ?)
 ON CONFLICT (account) DO UPDATE
 SET calls = budgets.calls + 1, cost = budgets.cost + excluded.cost, expires_at = excluded.expires_at
 RETURNING ${USAGE.columns}`
const SETTLE_CALL = `UPDATE budgets SET wall_ms = wall_ms + ?, bytes = bytes + ? WHERE account = ? RETURNING ${USAGE.columns}`
const RELEASE_CALL = `UPDATE budgets
 SET calls = CASE WHEN calls > 0 THEN calls - 1 ELSE 0 END, cost = CASE WHEN cost > ? THEN cost - ? ELSE 0 END
 WHERE account = ?`

/** The usage of an account that nothing was charged to. */
export const NOTHING_USED: Usage = Object.freeze({ calls: 0, wallMs: 0, bytes: 0, cost: 0 })

/** Budgets. */
export const budgets: Repository<BudgetStore> = {
  *reserve(accounts, cost) {
    if (accounts.length === 0) return { ok: true, used: [] }
    const amount = amountOf(cost)
    return yield* transaction(
      function* (): Work<BudgetOutcome> {
        for (const { account, limits } of accounts) {
          const before = yield* usageOf(account)
          if (!hasRoom(limits, before, amount)) return { ok: false, account, used: before }
        }
        const used: Usage[] = []
        for (const { account, expiresAt } of accounts)
          used.push(toUsage(yield* get(COUNT_CALL, account, amount, expiresAt)))
        return { ok: true, used }
      },
      accounts.map(({ account }) => budgetLock(account)),
    )
  },
  *settle(accounts, { wallMs, bytes }) {
    if (accounts.length === 0) return []
    return yield* transaction(function* () {
      const used: Usage[] = []
      for (const account of accounts)
        used.push(toUsage(yield* get(SETTLE_CALL, amountOf(wallMs), amountOf(bytes), account)))
      return used
    }, accounts.map(budgetLock))
  },
  *release(accounts, cost) {
    const amount = amountOf(cost)
    if (accounts.length === 0) return
    yield* transaction(function* () {
      for (const account of accounts) yield* run(RELEASE_CALL, amount, amount, account)
    }, accounts.map(budgetLock))
  },
  used: usageOf,
  *forget(account) {
    yield* run('DELETE FROM budgets WHERE account = ?', account)
  },
}

/** Returns the blocks that processes held in advance, and did not return before they ended. */
export function* sweepBlocks(now: number): Work<void> {
  const expired = 'SELECT account FROM budget_blocks WHERE leased_until <= ?'
  const accounts = yield* all<{ readonly account: string }>(expired, now)
  if (accounts.length === 0) return
  const held = (column: string) =>
    `(SELECT SUM(b.${column}) FROM budget_blocks b WHERE b.account = budgets.account AND b.leased_until <= ?)`
  const giveBack = function* () {
    yield* run(
      `UPDATE budgets SET calls = calls - ${held('calls')}, cost = cost - ${held('cost')} WHERE account IN (${expired})`,
      ...[now, now, now],
    )
    yield* run('DELETE FROM budget_blocks WHERE leased_until <= ?', now)
  }
  yield* transaction(
    giveBack,
    accounts.map(({ account }) => budgetLock(account)),
  )
}

/** Whether one more call of this cost fits. The comparisons are written so that a limit that is NaN refuses it. */
export function hasRoom(limits: BudgetLimits, used: Usage, cost: number): boolean {
  if (limits.calls !== undefined && !(used.calls + 1 <= limits.calls)) return false
  if (limits.cost !== undefined && !(used.cost + cost <= limits.cost)) return false
  if (limits.wallMs !== undefined && !(used.wallMs < limits.wallMs)) return false
  return limits.bytes === undefined || used.bytes < limits.bytes
}

/** An amount as it is counted: never below 0, and NaN uses up every limit. */
export function amountOf(value: number): number {
  if (Number.isNaN(value)) return Number.MAX_SAFE_INTEGER
  return Math.min(Math.max(0, value), Number.MAX_SAFE_INTEGER)
}

/** How many tokens a bucket holds, and when that was true. */
export interface BucketLevel {
  readonly tokens: number
  readonly filledAt: number
}

/** As for idempotency keys, there is no index of times. */
export const RATES = defineTable('rates', 1, {
  bucket: column.text({ key: true }),
  tokens: column.double(),
  filledAt: column.bigint(),
  fullAt: column.bigint(),
})
const FIND_LEVEL = `${RATES.select} WHERE bucket = ?`

/** Rate limits. */
export const rates: Repository<RateStore> = {
  *take(buckets, now, tokens = 1) {
    if (buckets.length === 0) return { ok: true }
    return yield* transaction(
      () => take(buckets, now, tokens),
      buckets.map(({ bucket }) => `rate:${bucket}`),
    )
  },
}

function* take(buckets: readonly RateBucket[], now: number, tokens: number): Work<RateOutcome> {
  const levels: { bucket: RateBucket; level: BucketLevel; waitMs: number; isAhead: boolean }[] = []
  for (const bucket of buckets) {
    const row = yield* get(FIND_LEVEL, bucket.bucket)
    const before = row ? RATES.read(row) : undefined
    const level = refill(bucket, before, now)
    const waitMs = waitTime(bucket, level, costIn(bucket, tokens))
    levels.push({ bucket, level, waitMs, isAhead: before !== undefined && before.filledAt > now })
  }
  const emptiest = levels.reduce((most, other) => (other.waitMs > most.waitMs ? other : most))
  const isTaken = emptiest.waitMs === 0
  for (const { bucket, level, isAhead } of levels) {
    // A refusal changes nothing, unless the clock was set back: what was filled in the future stays empty until then.
    if (!isTaken && !isAhead) continue
    const left = { tokens: level.tokens - (isTaken ? costIn(bucket, tokens) : 0), filledAt: level.filledAt }
    yield* run(RATES.upsert, ...RATES.values({ bucket: bucket.bucket, ...left, fullAt: fullAt(bucket, left) }))
  }
  return isTaken ? { ok: true } : { ok: false, bucket: emptiest.bucket.bucket, waitMs: emptiest.waitMs }
}

/** What floating point may lose while a token is refilled in parts. */
const ROUNDING = 1e-6

/** The level of a bucket now: a new one is full, and a clock that was set back adds nothing. */
export function refill({ perSecond, burst }: RateBucket, level: BucketLevel | undefined, now: number): BucketLevel {
  const most = Math.max(1, burst)
  if (!level) return { tokens: most, filledAt: now }
  const elapsedMs = Math.max(0, now - level.filledAt)
  return { tokens: Math.min(most, level.tokens + (elapsedMs / 1000) * perSecond), filledAt: now }
}

/** What a call takes from a bucket: never more than fits into it, so that every call gets its turn. */
export function costIn({ burst }: RateBucket, wanted: number): number {
  return Math.min(wanted, Math.max(1, burst))
}

/** How long until the bucket has so many tokens; 0 if it has them, `Infinity` if it never will. */
export function waitTime({ perSecond }: RateBucket, { tokens }: BucketLevel, wanted = 1): number {
  if (tokens >= wanted - ROUNDING) return 0
  const waitMs = Math.ceil(((wanted - ROUNDING / 2 - tokens) / perSecond) * 1000)
  return waitMs > 0 ? waitMs : Number.POSITIVE_INFINITY
}

/** When the bucket will be full, and so equal to one that was never used. */
export function fullAt({ perSecond, burst }: RateBucket, { tokens, filledAt }: BucketLevel): number {
  const at = filledAt + Math.ceil(((Math.max(1, burst) - tokens) / perSecond) * 1000)
  return at < Number.MAX_SAFE_INTEGER ? at : Number.MAX_SAFE_INTEGER
}

/** The lock of an account. */
export function budgetLock(account: string): string {
  return `budget:${account}`
}

function* findKey(key: string): Work<KeyState | undefined> {
  const row = yield* get(FIND_KEY, key)
  return row ? STATE.read(row) : undefined
}

function* usageOf(account: string): Work<Usage> {
  return toUsage(yield* get(FIND_USAGE, account))
}

/** The usage that a row of `budgets` holds; zeros if there is none. */
export function toUsage(row: unknown): Usage {
  return row ? USAGE.read(row) : NOTHING_USED
}
