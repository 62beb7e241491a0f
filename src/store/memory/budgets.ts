import type { BudgetAccountLimits, BudgetOutcome, BudgetStore, Usage } from '../../store.ts'
import { amountOf, hasRoom, NOTHING_USED } from '../rules/usage.ts'
import { Recent } from './recent.ts'

/** Changed in place: in memory a call must cost nearly nothing. */
interface Account {
  calls: number
  wallMs: number
  bytes: number
  cost: number
  expiresAt: number | undefined
}

/** Budgets in memory; an account that was forgotten to make room begins anew. */
export class MemoryBudgets implements BudgetStore {
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
      // One that was forgotten meanwhile stays so.
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
