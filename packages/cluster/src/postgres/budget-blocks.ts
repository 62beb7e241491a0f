import type { BudgetLimits, Usage } from '@tool-hub/core'
import { all, type Bindable, run, transaction, type Work } from '@tool-hub/core/sql'
import { budgetLock, hasRoom, NOTHING_USED, toUsage, USAGE_COLUMNS } from '@tool-hub/runtime/store/sql'

/** Times of `BlockBudgets`, for tests. */
export interface BlockBudgetOptions {
  /** How often what was used is reported. Default: 200 ms. */
  readonly reportMs?: number
  /** A block that was not used for so long is returned. Default: 2 s. */
  readonly idleMs?: number
  /** How long a block is used without a report; the store returns it after twice that time. Default: 10 s. */
  readonly leaseMs?: number
  /** How long a call waits for what other processes hold. Default: 1.5 s. */
  readonly recallMs?: number
}

/** Calls and cost that a process holds in advance. */
export interface BlockAmounts {
  readonly calls: number
  readonly cost: number
}

/** What a process reports about an account, and what it wants from it. */
export interface BlockRequest {
  readonly account: string
  /** What the process has used since its last report. */
  readonly since: Usage
  /** `lease` takes a new block with room for `wanted`, `keep` fills the block up for calls to come, `return` returns it. */
  readonly mode: 'lease' | 'keep' | 'return'
  /** What the next call needs. */
  readonly needed: BlockAmounts
  /** What all calls that wait need; as much of it as there is counts as used. */
  readonly wanted: BlockAmounts
  readonly limits: BudgetLimits
  /** When the account starts at zero again, as the last call says. */
  readonly expiresAt?: number
}

/** What a process holds of an account afterwards. */
export interface BlockState {
  readonly account: string
  /** What the store says that the process holds. */
  readonly block: BlockAmounts
  /** What was wanted and counted as used, for the process to use now. */
  readonly granted: BlockAmounts
  /** The usage by all processes, `granted` included, without what they hold. */
  readonly usage: Usage
  /** Whether another process needs what is left of the block. */
  readonly isRecalled: boolean
}

/** The accounts that still exist; or the first one that is used up. Then nothing has changed. */
export type BlockOutcome =
  | { readonly ok: true; readonly states: readonly BlockState[] }
  | {
      readonly ok: false
      readonly account: string
      /** Includes what other processes hold. */
      readonly used: Usage
      /** Whether there would be room if other processes returned what they hold: they are asked to. */
      readonly isHeld: boolean
    }

interface BlockRow extends BlockAmounts {
  readonly account: string
  readonly owner: string
  readonly leased_until: number
  readonly recalled: number
}

/** The part of a limit, and the number of calls, that one process holds in advance at most. */
const MAX_SHARE = 0.05
const MAX_BLOCK_CALLS = 100
/** What floating point may add or lose while a cost is taken and returned in parts. */
export const ROUNDING = 1e-9

const NONE: BlockAmounts = Object.freeze({ calls: 0, cost: 0 })

/**
 * Reports what a process has used of accounts, and leases, keeps or returns its blocks of them. Blocks are part of what the
 * account has used, so no process can use what another one holds. A block whose lease has expired is returned.
 */
export function exchangeBlocks(
  requests: readonly BlockRequest[],
  { owner, now, until }: { readonly owner: string; readonly now: number; readonly until: number },
): Work<BlockOutcome> {
  return transaction(
    function* (): Work<BlockOutcome> {
      // The rows first and in one order: processes that use the same accounts wait for each other instead of failing.
      const sorted = [...requests].sort((a, b) => (a.account < b.account ? -1 : 1))
      const rows = new Map<string, Usage>()
      for (const row of [...(yield* lockNew(sorted)), ...(yield* lockOld(sorted))]) rows.set(row.account, toUsage(row))
      const names = [...rows.keys()]
      if (names.length === 0) return { ok: true, states: [] }
      const blocks = yield* blocksOf(names)
      const changes: AccountChange[] = []
      for (const request of requests) {
        const row = rows.get(request.account)
        if (!row) continue
        const change = planChange(request, row, blocks, { owner, now })
        if (change.state) {
          changes.push({ ...change, state: change.state })
          continue
        }
        const { account } = request
        if (change.isHeld)
          yield* run('UPDATE budget_blocks SET recalled = 1 WHERE account = ? AND owner <> ?', account, owner)
        return { ok: false, account, used: change.used, isHeld: change.isHeld }
      }
      yield* writeChanges(changes, blocks, { owner, now, until })
      return { ok: true, states: changes.map(({ state }) => state) }
    },
    requests.map(({ account }) => budgetLock(account)),
  )
}

/** The usage of an account, without what processes hold in advance; `undefined` if the account does not exist. */
export function* usageWithoutBlocks(account: string): Work<Usage | undefined> {
  const [row] = yield* all(`SELECT ${USAGE_COLUMNS} FROM budgets WHERE account = ?`, account)
  if (!row) return undefined
  return minus(toUsage(row), sum(yield* blocksOf([account])))
}

/** Removes an account with the blocks of all processes. */
export function forgetAccount(account: string): Work<void> {
  return transaction(
    function* () {
      yield* run('DELETE FROM budgets WHERE account = ?', account)
      yield* run('DELETE FROM budget_blocks WHERE account = ?', account)
    },
    [budgetLock(account)],
  )
}

interface AccountChange {
  readonly request: BlockRequest
  /** The row of the account afterwards. */
  readonly used: Usage
  readonly state: BlockState
}

type PlannedChange = Omit<AccountChange, 'state'> & {
  /** Absent if the budget has no room. */
  readonly state?: BlockState
  readonly isHeld: boolean
}

function planChange(
  request: BlockRequest,
  row: Usage,
  blocks: readonly BlockRow[],
  { owner, now }: { readonly owner: string; readonly now: number },
): PlannedChange {
  const { account, since, mode } = request
  const all = blocks.filter((block) => block.account === account)
  const own = all.find((block) => block.owner === owner)
  const others = all.filter((block) => block.owner !== owner && block.leased_until > now)
  const held = sum(others)
  // Without the own block and those that have expired, and with what was used.
  const used = plus(minus(row, minusAmounts(sum(all), held)), since)
  if (mode === 'lease' && !fits(request, used)) return { request, used, isHeld: fits(request, minus(used, held)) }
  const isRecalled = mode === 'keep' && own?.recalled === 1
  const { taken, granted } = takeBlock(request, used, { own, processes: others.length + 1, isRecalled })
  const usage = plus(minus(used, held), { ...NOTHING_USED, ...granted })
  const state = {
    account,
    block: minusAmounts(taken, granted),
    granted,
    usage,
    isRecalled,
  }
  return { request, used: plus(used, { ...NOTHING_USED, ...taken }), state, isHeld: false }
}

/** How much of an account a process takes: what is wanted now, and a share of what is left, for the calls to come. */
function takeBlock(
  { mode, since, limits, needed, wanted }: BlockRequest,
  used: Usage,
  {
    own,
    processes,
    isRecalled,
  }: { readonly own: BlockAmounts | undefined; readonly processes: number; readonly isRecalled: boolean },
): { readonly taken: BlockAmounts; readonly granted: BlockAmounts } {
  // A block that was returned meanwhile is not filled up: calls may use what they believe to have.
  if (mode === 'return' || (mode === 'keep' && !own)) return { taken: NONE, granted: NONE }
  const rest = mode === 'keep' && own ? restOf(own, since, limits) : NONE
  if (isRecalled || (mode === 'keep' && since.calls <= 0)) return { taken: rest, granted: NONE }
  const share = (limit: number, left: number) => Math.min(limit * MAX_SHARE, left / (2 * processes))
  let calls = 0
  if (isBounded(limits.calls)) {
    const left = Math.floor(limits.calls - used.calls)
    const ahead = Math.min(MAX_BLOCK_CALLS, Math.floor(share(limits.calls, left)))
    calls = Math.max(rest.calls, needed.calls, Math.min(left, Math.max(wanted.calls, ahead)))
  }
  let cost = 0
  if (isBounded(limits.cost)) {
    const left = limits.cost - used.cost
    cost = Math.max(rest.cost, needed.cost, Math.min(wanted.cost, left), share(limits.cost, left))
  }
  return {
    taken: { calls, cost },
    granted: { calls: Math.min(calls, wanted.calls), cost: Math.min(cost, wanted.cost) },
  }
}

/** Whether a process takes a unit in advance; one without a limit is only counted. */
export function isBounded(limit: number | undefined): limit is number {
  return limit !== undefined && limit !== Number.POSITIVE_INFINITY
}

/** What is left of a block after a report. */
function restOf(own: BlockAmounts, since: BlockAmounts, limits: BudgetLimits): BlockAmounts {
  return {
    calls: isBounded(limits.calls) ? Math.max(0, own.calls - since.calls) : 0,
    cost: isBounded(limits.cost) ? Math.max(0, own.cost - since.cost) : 0,
  }
}

function fits({ limits, needed }: BlockRequest, used: Usage): boolean {
  const before = { ...used, calls: used.calls + needed.calls - 1 }
  const most = limits.cost === undefined ? limits : { ...limits, cost: limits.cost * (1 + ROUNDING) }
  return hasRoom(most, before, needed.cost)
}

/** Creates the rows of accounts that calls are counted in now. */
function* lockNew(requests: readonly BlockRequest[]): Work<(Usage & { readonly account: string })[]> {
  const leased = requests.filter(({ mode }) => mode === 'lease')
  if (leased.length === 0) return []
  return yield* all(
    `INSERT INTO budgets (account, calls, wall_ms, bytes, cost, expires_at)
     VALUES ${leased.map(() => '(?, 0, 0, 0, 0, ?)').join(', ')}
     ON CONFLICT (account) DO UPDATE SET expires_at = excluded.expires_at RETURNING account, ${USAGE_COLUMNS}`,
    ...leased.flatMap(({ account, expiresAt }) => [account, expiresAt]),
  )
}

/** The others keep what they have; an account that was removed stays so. */
function* lockOld(requests: readonly BlockRequest[]): Work<(Usage & { readonly account: string })[]> {
  const reported = requests.filter(({ mode }) => mode !== 'lease').map(({ account }) => account)
  if (reported.length === 0) return []
  const columns = 'account, calls, wall_ms, bytes, cost, expires_at'
  return yield* all(
    `INSERT INTO budgets (${columns}) SELECT ${columns} FROM budgets WHERE account IN (${marks(reported)}) ORDER BY account
     ON CONFLICT (account) DO UPDATE SET expires_at = budgets.expires_at RETURNING account, ${USAGE_COLUMNS}`,
    ...reported,
  )
}

function blocksOf(accounts: readonly string[]): Work<BlockRow[]> {
  return all(
    `SELECT account, owner, calls, cost, leased_until, recalled FROM budget_blocks WHERE account IN (${marks(accounts)})`,
    ...accounts,
  )
}

function* writeChanges(
  changes: readonly AccountChange[],
  blocks: readonly BlockRow[],
  { owner, now, until }: { readonly owner: string; readonly now: number; readonly until: number },
): Work<void> {
  if (changes.length === 0) return
  // The rows are there, and locked: this only replaces their values, all in one statement.
  yield* run(
    `INSERT INTO budgets (account, calls, wall_ms, bytes, cost, expires_at)
     VALUES ${changes.map(() => '(?, ?, ?, ?, ?, ?)').join(', ')}
     ON CONFLICT (account) DO UPDATE SET calls = excluded.calls, wall_ms = excluded.wall_ms, bytes = excluded.bytes,
     cost = excluded.cost, expires_at = excluded.expires_at`,
    ...changes.flatMap(({ request, used }): Bindable[] => {
      return [request.account, used.calls, used.wallMs, used.bytes, used.cost, request.expiresAt]
    }),
  )
  const held = changes.map(({ state }) => state).filter(({ block }) => block.calls > 0 || block.cost > 0)
  const changed = new Set(changes.map(({ request }) => request.account))
  const kept = new Set(held.map(({ account }) => account))
  const isOver = (block: BlockRow) => (block.owner === owner ? !kept.has(block.account) : block.leased_until <= now)
  for (const block of blocks.filter((each) => changed.has(each.account) && isOver(each)))
    yield* run('DELETE FROM budget_blocks WHERE account = ? AND owner = ?', block.account, block.owner)
  if (held.length === 0) return
  yield* run(
    `INSERT INTO budget_blocks (account, owner, calls, cost, leased_until, recalled)
     VALUES ${held.map(() => '(?, ?, ?, ?, ?, ?)').join(', ')}
     ON CONFLICT (account, owner) DO UPDATE SET calls = excluded.calls, cost = excluded.cost,
     leased_until = excluded.leased_until, recalled = excluded.recalled`,
    ...held.flatMap(({ account, block, isRecalled }): Bindable[] => {
      return [account, owner, block.calls, block.cost, until, Number(isRecalled)]
    }),
  )
}

function marks(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ')
}

function sum(blocks: readonly BlockAmounts[]): BlockAmounts {
  return blocks.reduce((total, { calls, cost }) => ({ calls: total.calls + calls, cost: total.cost + cost }), NONE)
}

function minusAmounts(a: BlockAmounts, b: BlockAmounts): BlockAmounts {
  return { calls: a.calls - b.calls, cost: a.cost - b.cost }
}

function minus(used: Usage, { calls, cost }: BlockAmounts): Usage {
  return { ...used, calls: Math.max(0, used.calls - calls), cost: Math.max(0, used.cost - cost) }
}

/** The sum of two usages; never below 0. */
export function plus(a: Usage, b: Usage): Usage {
  return {
    calls: Math.max(0, a.calls + b.calls),
    wallMs: a.wallMs + b.wallMs,
    bytes: a.bytes + b.bytes,
    cost: Math.max(0, a.cost + b.cost),
  }
}
