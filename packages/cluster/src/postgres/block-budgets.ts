import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Awaitable, BudgetAccountLimits, BudgetLimits, BudgetOutcome, BudgetStore, Usage } from '@tool-hub/core'
import { bind, type Driver, perform } from '@tool-hub/core/sql'
import { amountOf, budgets, hasRoom, NOTHING_USED } from '@tool-hub/runtime/store/sql'
import {
  type BlockAmounts,
  type BlockBudgetOptions,
  type BlockOutcome,
  type BlockRequest,
  type BlockState,
  exchangeBlocks,
  forgetAccount,
  isBounded,
  plus,
  ROUNDING,
  usageWithoutBlocks,
} from './budget-blocks.ts'

/** The pause between two looks whether other processes have returned what they hold. */
const RECALL_POLL_MS = 50
/** The number of accounts that are reported together. */
const MAX_REPORTED = 50
/** A block is filled up when so much of it is used. */
const LOW = 0.6
/** The smallest block that is filled up, and the shortest time between two fillings. */
const MIN_FILLED = 10
const MIN_FILL_MS = 5
const NONE: BlockAmounts = Object.freeze({ calls: 0, cost: 0 })

/**
 * The budgets of a store that processes on several machines share. A row of a database takes about 2,000 updates a second, and
 * every update waits for a round trip, so each process takes calls and cost of an account in advance, in blocks: at most 5 % of
 * the limit and 100 calls, less when little is left, and in the end one call at a time. Calls are served from the block; time
 * and bytes are reported in batches.
 *
 * Calls and cost limits are never passed, because blocks count as used. If a process is killed, its block is returned when
 * its lease expires, and what it used of it since its last report is not counted: at most one block.
 */
export class BlockBudgets implements BudgetStore {
  readonly #driver: Driver
  readonly #exact: BudgetStore
  readonly #owner = randomUUID()
  readonly #reportMs: number
  readonly #idleMs: number
  readonly #leaseMs: number
  readonly #recallMs: number
  readonly #accounts = new Map<string, HeldAccount>()
  #timer: NodeJS.Timeout | undefined
  #reporting: Promise<void> | undefined
  #isClosed = false

  constructor(driver: Driver, options: BlockBudgetOptions = {}) {
    const { reportMs = 200, idleMs = 2_000, leaseMs = 10_000, recallMs = 1_500 } = options
    this.#driver = driver
    this.#exact = bind<BudgetStore>(driver, budgets)
    this.#reportMs = reportMs
    this.#idleMs = idleMs
    this.#leaseMs = leaseMs
    this.#recallMs = recallMs
  }

  reserve(accounts: readonly BudgetAccountLimits[], cost: number): Awaitable<BudgetOutcome> {
    const amount = amountOf(cost)
    return this.#take(accounts, amount) ?? this.#reserveLater(accounts, amount)
  }

  settle(
    accounts: readonly string[],
    { wallMs, bytes }: { wallMs: number; bytes: number },
  ): Awaitable<readonly Usage[]> {
    const spent = { wallMs: amountOf(wallMs), bytes: amountOf(bytes) }
    const held = accounts.map((account) => this.#accounts.get(account))
    for (const account of held) account?.add({ ...NOTHING_USED, ...spent })
    this.#schedule()
    if (held.every((account) => account !== undefined)) return held.map((account) => account.usage)
    return Promise.all(
      held.map(async (account, index) => {
        if (account) return account.usage
        const [used] = await this.#exact.settle([accounts[index]!], spent)
        return used!
      }),
    )
  }

  release(accounts: readonly string[], cost: number): Awaitable<void> {
    const amount = amountOf(cost)
    const elsewhere: string[] = []
    for (const name of accounts) {
      const account = this.#accounts.get(name)
      if (account) account.add({ ...NOTHING_USED, calls: -1, cost: -amount })
      else elsewhere.push(name)
    }
    this.#schedule()
    if (elsewhere.length > 0) return this.#exact.release(elsewhere, amount)
  }

  async used(account: string): Promise<Usage> {
    const used = await perform(this.#driver, usageWithoutBlocks(account))
    if (!used) return NOTHING_USED
    const held = this.#accounts.get(account)
    return held ? plus(used, held.since) : used
  }

  async forget(account: string): Promise<void> {
    await this.#accounts.get(account)?.exchange?.catch(() => {})
    this.#accounts.delete(account)
    await perform(this.#driver, forgetAccount(account))
  }

  /** Reports everything: before accounts are swept, the store must know when they expire. */
  async report(): Promise<void> {
    await this.#reporting
    await this.#report({ isLast: false })
  }

  /** Reports everything and returns all blocks. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#reporting
    await Promise.allSettled(Array.from(this.#accounts.values(), ({ exchange }) => exchange))
    // If that fails, the blocks are returned when their leases expire.
    await this.#report({ isLast: true })
  }

  /** Serves a call from the blocks that this process holds; `undefined` if one of them does not suffice. */
  #take(accounts: readonly BudgetAccountLimits[], cost: number): BudgetOutcome | undefined {
    const now = performance.now()
    for (let index = 0; index < accounts.length; index++) {
      const account = this.#accounts.get(accounts[index]!.account)
      if (account?.canServe(accounts[index]!.limits, { calls: 1, cost }, now)) {
        account.add({ calls: 1, wallMs: 0, bytes: 0, cost })
        account.expiresAt = accounts[index]!.expiresAt
        continue
      }
      for (const { account: taken } of accounts.slice(0, index))
        this.#accounts.get(taken)!.add({ calls: -1, wallMs: 0, bytes: 0, cost: -cost })
      return undefined
    }
    this.#schedule()
    this.#fillUp(accounts, now)
    return { ok: true, used: accounts.map(({ account }) => this.#accounts.get(account)!.usage) }
  }

  /** Fills blocks up before they are used up, while calls continue to use them. */
  #fillUp(accounts: readonly BudgetAccountLimits[], now: number): void {
    const held = accounts.map(({ account }) => this.#accounts.get(account)!)
    if (!held.some((account) => account.isLow(now))) return
    const low = [...new Set(held)].filter((account) => account.isLow(now))
    // If it fails, the call that needs more is shown the error.
    this.#exchange(low.map((account) => account.reportAs('keep'))).catch(() => {})
  }

  async #reserveLater(accounts: readonly BudgetAccountLimits[], cost: number): Promise<BudgetOutcome> {
    const giveUpAt = performance.now() + this.#recallMs
    for (;;) {
      const served = this.#take(accounts, cost)
      if (served) return served
      const lacking = this.#lackingOf(accounts, cost)
      const busy = lacking.find(({ account }) => account.exchange !== undefined)?.account
      if (busy) {
        await busy.wait()
        continue
      }
      const outcome = await this.#lease(lacking, cost)
      if (outcome.ok) continue
      const { account, used, isHeld } = outcome
      if (!isHeld || performance.now() >= giveUpAt) return { ok: false, account, used }
      await sleep(RECALL_POLL_MS)
    }
  }

  /** The accounts of a call that have too little in their blocks, each with how often it is charged. */
  #lackingOf(accounts: readonly BudgetAccountLimits[], cost: number): Lacking[] {
    const now = performance.now()
    const times = new Map<string, number>()
    for (const { account } of accounts) times.set(account, (times.get(account) ?? 0) + 1)
    return Array.from(times, ([name, calls]): Lacking => {
      const { limits, expiresAt } = accounts.find(({ account }) => account === name)!
      return { account: this.#open(name), limits, expiresAt, calls }
    }).filter(({ account, limits, calls }) => !account.canServe(limits, { calls, cost: cost * calls }, now))
  }

  #open(name: string): HeldAccount {
    const account = this.#accounts.get(name) ?? new HeldAccount(name)
    this.#accounts.set(name, account)
    return account
  }

  async #lease(lacking: readonly Lacking[], cost: number): Promise<BlockOutcome> {
    const requests = lacking.map(({ account, limits, expiresAt, calls }): BlockRequest => {
      const all = calls + account.waiting
      return {
        ...account.reportAs('lease'),
        needed: { calls, cost: calls * cost },
        wanted: { calls: all, cost: all * cost },
        limits,
        expiresAt,
      }
    })
    return this.#exchange(requests)
  }

  /** Only one exchange of an account happens at a time. Unless it keeps its block, calls wait for the end of it. */
  async #exchange(requests: readonly BlockRequest[]): Promise<BlockOutcome> {
    const startedAt = performance.now()
    const now = Date.now()
    const working = Promise.resolve(
      perform(this.#driver, exchangeBlocks(requests, { owner: this.#owner, now, until: now + 2 * this.#leaseMs })),
    )
    const done = working.then(() => {})
    // Those who wait for it are shown the error.
    done.catch(() => {})
    for (const { account, mode } of requests) this.#accounts.get(account)!.start(done, mode)
    try {
      const outcome = await working
      if (outcome.ok) this.#adopt(requests, outcome.states, startedAt)
      return outcome
    } finally {
      for (const { account } of requests) this.#accounts.get(account)?.end()
      this.#schedule()
    }
  }

  #adopt(requests: readonly BlockRequest[], states: readonly BlockState[], startedAt: number): void {
    const byAccount = new Map(states.map((state) => [state.account, state]))
    for (const request of requests) {
      const state = byAccount.get(request.account)
      if (state) this.#accounts.get(request.account)?.adopt(request, state, startedAt + this.#leaseMs)
      // Somebody has removed the account: what was used of it is not counted.
      else this.#accounts.delete(request.account)
    }
  }

  #schedule(): void {
    if (this.#timer || this.#isClosed || this.#accounts.size === 0) return
    this.#timer = setTimeout(() => {
      this.#reporting = this.#report({ isLast: false }).finally(() => {
        this.#timer = undefined
        this.#reporting = undefined
        this.#schedule()
      })
    }, this.#reportMs).unref()
  }

  /** Reports what was used, also of blocks that are not in use: another process may need them. */
  async #report({ isLast }: { readonly isLast: boolean }): Promise<void> {
    const idleSince = performance.now() - this.#idleMs
    const names = [...this.#accounts.keys()]
    try {
      for (let first = 0; first < names.length; first += MAX_REPORTED) {
        const requests = names.slice(first, first + MAX_REPORTED).flatMap((name): BlockRequest[] => {
          const account = this.#accounts.get(name)
          if (!account || account.exchange) return []
          const isOver = isLast || account.usedAt < idleSince
          if (account.hasReport) return [account.reportAs(isOver ? 'return' : 'keep')]
          if (isOver) this.#accounts.delete(name)
          return []
        })
        if (requests.length === 0) continue
        await this.#exchange(requests)
        // What another process needs is returned in a second step, in which no call uses the block.
        const recalled = requests.flatMap(({ account }) => this.#accounts.get(account) ?? [])
        const returned = recalled.filter(({ isRecalled, exchange }) => isRecalled && !exchange)
        if (returned.length > 0) await this.#exchange(returned.map((account) => account.reportAs('return')))
      }
    } catch {
      // It stays to be reported, and a block is not used beyond its lease: then callers are shown the error.
    }
  }
}

interface Lacking {
  readonly account: HeldAccount
  readonly limits: BudgetLimits
  readonly expiresAt: number | undefined
  /** How often the call is counted in it. */
  readonly calls: number
}

/** What this process holds of an account, and what it has used since its last report. */
class HeldAccount {
  readonly name: string
  limits: BudgetLimits = {}
  /** When the account starts at zero again, as the last call says. */
  expiresAt: number | undefined
  since: Usage = NOTHING_USED
  usedAt = performance.now()
  /** The exchange that is under way. */
  exchange: Promise<void> | undefined
  /** Calls that wait for it. */
  waiting = 0
  #block = NONE
  /** The usage by all processes at the last report. */
  #known = NOTHING_USED
  /** Whether another process needs what is left of the block. */
  isRecalled = false
  /** Until when the block may be used. */
  #usableUntil = 0
  #filledAt = 0
  /** False while the block is returned or replaced. */
  #isOpen = true

  constructor(name: string) {
    this.name = name
  }

  get usage(): Usage {
    return plus(this.#known, this.since)
  }

  /** Whether there is something to report or to return. */
  get hasReport(): boolean {
    const { calls, wallMs, bytes, cost } = this.since
    return this.#block.calls > 0 || this.#block.cost > 0 || calls !== 0 || cost !== 0 || wallMs > 0 || bytes > 0
  }

  /** Whether most of the block is used; not again and again near the limit, where blocks are small. */
  isLow(now: number): boolean {
    if (this.exchange || this.isRecalled || now - this.#filledAt < MIN_FILL_MS) return false
    const { calls, cost } = this.#block
    if (isBounded(this.limits.calls) && calls >= MIN_FILLED && this.since.calls > calls * LOW) return true
    return isBounded(this.limits.cost) && cost > 0 && this.since.cost > cost * LOW
  }

  canServe(limits: BudgetLimits, { calls, cost }: BlockAmounts, now: number): boolean {
    if (!this.#isOpen || now >= this.#usableUntil) return false
    if (limits.calls !== this.limits.calls || limits.cost !== this.limits.cost) return false
    if (isBounded(limits.calls) && !(this.#block.calls - this.since.calls >= calls)) return false
    if (isBounded(limits.cost) && !(this.#block.cost - this.since.cost >= cost - ROUNDING * limits.cost)) return false
    return hasRoom({ wallMs: limits.wallMs, bytes: limits.bytes }, this.usage, 0)
  }

  add({ calls, wallMs, bytes, cost }: Usage): void {
    const { since } = this
    this.since = {
      calls: since.calls + calls,
      wallMs: since.wallMs + wallMs,
      bytes: since.bytes + bytes,
      cost: since.cost + cost,
    }
    this.usedAt = performance.now()
  }

  async wait(): Promise<void> {
    this.waiting++
    try {
      await this.exchange
    } finally {
      this.waiting--
    }
  }

  reportAs(mode: BlockRequest['mode']): BlockRequest {
    const { name: account, since, limits, expiresAt } = this
    return { account, since, mode, needed: NONE, wanted: NONE, limits, expiresAt }
  }

  start(exchange: Promise<void>, mode: BlockRequest['mode']): void {
    this.exchange = exchange
    this.#isOpen = mode === 'keep'
  }

  adopt({ since, limits }: BlockRequest, { block, granted, usage, isRecalled }: BlockState, usableUntil: number): void {
    this.since = {
      calls: this.since.calls - since.calls - granted.calls,
      wallMs: this.since.wallMs - since.wallMs,
      bytes: this.since.bytes - since.bytes,
      cost: this.since.cost - since.cost - granted.cost,
    }
    this.limits = limits
    this.isRecalled = isRecalled
    this.#block = block
    this.#known = usage
    this.#filledAt = performance.now()
    this.#usableUntil = usableUntil
  }

  end(): void {
    this.exchange = undefined
    this.#isOpen = true
  }
}
