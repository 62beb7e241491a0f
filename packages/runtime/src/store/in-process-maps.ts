import type {
  BudgetAccountLimits,
  BudgetOutcome,
  BudgetStore,
  EventStore,
  HeadStore,
  KeyState,
  KeyStore,
  RateBucket,
  RateOutcome,
  RateStore,
  StoredEvent,
  StoredHead,
  Usage,
  UserTextStore,
} from '@tool-hub/core'
import { compareIds, type Work } from '@tool-hub/core/sql'
import { LRUCache } from 'lru-cache'
import { type EventLog, EventWatchers } from './sql/events.ts'
import { amountOf, type BucketLevel, costIn, hasRoom, NOTHING_USED, refill, waitTime } from './sql/limits.ts'

/** How many entries the stores in this process hold. */
export interface LocalStoresOptions {
  readonly maxKeys: number
  readonly maxResultChars: number
  readonly maxEntries: number
}

/** The repositories of the in-process store that do not use SQLite. */
export interface LocalStores {
  readonly keys: KeyStore
  readonly budgets: BudgetStore
  readonly rates: RateStore
  readonly heads: HeadStore
  readonly userTexts: UserTextStore
  readonly events: LocalEvents
  sweep(now: number): void
}

/**
 * Creates the repositories of the in-process store that every call uses. They are maps and not SQLite in memory for two
 * reasons. A reservation of a budget takes about 20 us in SQLite and less than 1 us here, while a whole call takes 17
 * us (bench row `sequential-call`). And a hub without a data folder, which uses no other repository before the first
 * approval, session or note, starts and works without loading SQLite (bench row `cold-start`: 28 ms to load it and 8 ms
 * to create the tables).
 */
export function createLocalStores({ maxKeys, maxResultChars, maxEntries }: LocalStoresOptions): LocalStores {
  const keys = new LocalKeys({ maxKeys, maxResultChars })
  const budgets = new LocalBudgets(maxEntries)
  return {
    keys,
    budgets,
    rates: new LocalRates(maxEntries),
    heads: new LocalHeads(maxEntries),
    userTexts: new LocalUserTexts(maxEntries),
    events: new LocalEvents(),
    sweep(now) {
      keys.sweep(now)
      budgets.sweep(now)
    },
  }
}

/** Idempotency keys. A running one is never evicted; finished ones are, the least recently used first. */
class LocalKeys implements KeyStore {
  readonly #running = new Map<string, KeyState>()
  readonly #bounds: { readonly max: number; readonly maxSize: number }
  /** Created with the first finished key: it reserves space for all entries. */
  #finished: LRUCache<string, KeyState> | undefined

  constructor({ maxKeys, maxResultChars }: { readonly maxKeys: number; readonly maxResultChars: number }) {
    this.#bounds = { max: maxKeys, maxSize: maxResultChars }
  }

  look(key: string): KeyState | undefined {
    return this.#running.get(key) ?? this.#finished?.get(key)
  }

  claim(key: string, { argsHash, owner, now }: { argsHash: string; owner: string; now: number }): KeyState | undefined {
    const held = this.look(key)
    if (held && !(held.expiresAt !== undefined && held.expiresAt <= now)) return held
    this.#finished?.delete(key)
    this.#running.set(key, { argsHash, state: 'running', owner })
    return undefined
  }

  finish(key: string, { owner, result, expiresAt }: { owner: string; result?: string; expiresAt: number }): void {
    const running = this.#running.get(key)
    if (running?.owner !== owner) return
    this.#running.delete(key)
    // A result larger than all space would not be kept at all, and its call would be executed again.
    const kept = result !== undefined && result.length <= this.#bounds.maxSize ? result : undefined
    this.#finished ??= new LRUCache(this.#bounds)
    this.#finished.set(
      key,
      { argsHash: running.argsHash, state: 'finished', owner, ...(kept !== undefined && { result: kept }), expiresAt },
      { size: Math.max(1, kept?.length ?? 1) },
    )
  }

  release(key: string, owner: string): void {
    if (this.#running.get(key)?.owner === owner) this.#running.delete(key)
  }

  sweep(now: number): void {
    for (const [key, { expiresAt }] of this.#finished?.entries() ?? [])
      if (expiresAt !== undefined && expiresAt <= now) this.#finished?.delete(key)
  }
}

/** Changed in place. */
interface Account {
  calls: number
  wallMs: number
  bytes: number
  cost: number
  expiresAt: number | undefined
}

/** Budgets; an account that was evicted starts at zero. */
class LocalBudgets implements BudgetStore {
  readonly #accounts: Recent<Account>

  constructor(max: number) {
    this.#accounts = new Recent(max)
  }

  reserve(accounts: readonly BudgetAccountLimits[], cost: number): BudgetOutcome {
    const amount = amountOf(cost)
    const known = accounts.map(({ account }) => this.#accounts.get(account))
    for (let index = 0; index < accounts.length; index++) {
      const { account, limits } = accounts[index]!
      const used = known[index] ?? NOTHING_USED
      if (!hasRoom(limits, used, amount)) return { ok: false, account, used: usageOf(used) }
    }
    const used = accounts.map(({ account, expiresAt }, index) => {
      const counted = known[index] ?? this.#open(account)
      counted.calls += 1
      counted.cost += amount
      counted.expiresAt = expiresAt
      return usageOf(counted)
    })
    return { ok: true, used }
  }

  settle(accounts: readonly string[], { wallMs, bytes }: { wallMs: number; bytes: number }): readonly Usage[] {
    return accounts.map((account) => {
      // An account that was evicted meanwhile stays evicted.
      const counted = this.#accounts.get(account)
      if (!counted) return NOTHING_USED
      counted.wallMs += amountOf(wallMs)
      counted.bytes += amountOf(bytes)
      return usageOf(counted)
    })
  }

  release(accounts: readonly string[], cost: number): void {
    for (const account of accounts) {
      const counted = this.#accounts.get(account)
      if (!counted) continue
      counted.calls = Math.max(0, counted.calls - 1)
      counted.cost = Math.max(0, counted.cost - amountOf(cost))
    }
  }

  used(account: string): Usage {
    return usageOf(this.#accounts.get(account) ?? NOTHING_USED)
  }

  forget(account: string): void {
    this.#accounts.delete(account)
  }

  sweep(now: number): void {
    for (const [account, { expiresAt }] of this.#accounts.entries())
      if (expiresAt !== undefined && expiresAt <= now) this.#accounts.delete(account)
  }

  #open(account: string): Account {
    const opened = { calls: 0, wallMs: 0, bytes: 0, cost: 0, expiresAt: undefined }
    this.#accounts.set(account, opened)
    return opened
  }
}

function usageOf({ calls, wallMs, bytes, cost }: Usage): Usage {
  return { calls, wallMs, bytes, cost }
}

/** Token buckets; one that was evicted is full again. */
class LocalRates implements RateStore {
  readonly #levels: Recent<BucketLevel>

  constructor(max: number) {
    this.#levels = new Recent(max)
  }

  take(buckets: readonly RateBucket[], now: number, wanted = 1): RateOutcome {
    let emptiest: { readonly ok: false; readonly bucket: string; readonly waitMs: number } | undefined
    for (const bucket of buckets) {
      const level = refill(bucket, this.#levels.get(bucket.bucket), now)
      this.#levels.set(bucket.bucket, level)
      const waitMs = waitTime(bucket, level, costIn(bucket, wanted))
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

/** Heads of run records; those written longest ago are evicted. */
class LocalUserTexts implements UserTextStore {
  readonly #texts: LRUCache<string, readonly string[]>

  constructor(max: number) {
    this.#texts = new LRUCache({ max })
  }

  add(run: string, text: string, { maxChars }: { readonly maxChars: number }): void {
    const texts = [...(this.#texts.get(run) ?? []), text.slice(0, maxChars)]
    let chars = texts.reduce((sum, { length }) => sum + length, 0)
    while (chars > maxChars) chars -= texts.shift()!.length
    this.#texts.set(run, texts)
  }

  list(run: string): readonly string[] {
    return this.#texts.get(run) ?? []
  }

  remove(run: string): void {
    this.#texts.delete(run)
  }
}

class LocalHeads implements HeadStore {
  /** In the order in which they were written. */
  readonly #heads = new Map<string, StoredHead>()
  readonly #max: number

  constructor(max: number) {
    this.#max = max
  }

  put(head: StoredHead, continues?: { readonly seq: number; readonly hash: string }): void {
    const key = keyOf(head)
    const known = this.#heads.get(key)
    if (known && known.seq > head.seq) return
    if (continues) this.#replace(head, continues)
    this.#set(key, known?.removedBy === undefined ? head : { ...head, removedBy: known.removedBy })
  }

  list({ run }: { readonly run?: string } = {}): readonly StoredHead[] {
    const heads = [...this.#heads.values()]
    if (run !== undefined) return heads.filter((head) => head.run === run)
    return heads.sort((a, b) => compareIds(a.run, b.run))
  }

  remove(run: string, { by, at }: { readonly by: string; readonly at: number }): void {
    const kept = this.list({ run }).filter(({ removedBy }) => removedBy === undefined)
    for (const head of kept) this.#heads.set(keyOf(head), { ...head, removedBy: by })
    // The removal of a run without a head is on record, too.
    const removed = { run, opening: '', seq: 0, hash: '', at, removedBy: by }
    if (kept.length === 0 && !this.#heads.has(keyOf(removed))) this.#set(keyOf(removed), removed)
  }

  #replace({ run, opening }: StoredHead, { seq, hash }: { readonly seq: number; readonly hash: string }): void {
    for (const [key, head] of this.#heads)
      if (head.run === run && head.opening !== opening && head.seq === seq && head.hash === hash)
        this.#heads.delete(key)
  }

  #set(key: string, head: StoredHead): void {
    this.#heads.delete(key)
    this.#heads.set(key, head)
    if (this.#heads.size <= this.#max) return
    const [oldest] = this.#heads.keys()
    this.#heads.delete(oldest!)
  }
}

function keyOf({ run, opening }: StoredHead): string {
  return JSON.stringify([run, opening])
}

/** The events of this process, which are emitted and not kept. */
export class LocalEvents implements EventStore, EventLog {
  readonly #watchers = new EventWatchers()
  #seq = 0

  append({ topic, body, at }: { readonly topic: string; readonly body: string; readonly at: number }): number {
    const seq = ++this.#seq
    if (this.#watchers.size > 0) queueMicrotask(() => this.#watchers.emit({ seq, topic, body, at }))
    return seq
  }

  *write({ topic, body, at }: { readonly topic: string; readonly body: string; readonly at: number }): Work<number> {
    // No query.
    yield* []
    return this.append({ topic, body, at })
  }

  /** `write` has queued the event: it is emitted after the transaction, which is synchronous. */
  announce(): void {}

  watch(listener: (event: StoredEvent) => void): () => void {
    const watcher = this.#watchers.add(listener, this.#seq)
    return () => this.#watchers.remove(watcher)
  }

  close(): void {
    this.#watchers.clear()
  }
}

/** The entries used last, up to a number. The cache is created with the first: it reserves space for all entries. */
class Recent<T extends object> {
  readonly #max: number
  #entries: LRUCache<string, T> | undefined

  constructor(max: number) {
    this.#max = max
  }

  get(key: string): T | undefined {
    return this.#entries?.get(key)
  }

  set(key: string, value: T): void {
    this.#entries ??= new LRUCache({ max: this.#max })
    this.#entries.set(key, value)
  }

  delete(key: string): void {
    this.#entries?.delete(key)
  }

  *entries(): Generator<[string, T]> {
    if (this.#entries) yield* this.#entries.entries()
  }
}
