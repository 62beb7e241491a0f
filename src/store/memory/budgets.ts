import type { BudgetAccountLimits, BudgetOutcome, BudgetStore, Usage } from '../../store.ts'
import { amountOf, hasRoom, NOTHING_USED } from '../rules/usage.ts'
import { Recent } from './recent.ts'

interface Account {
  readonly used: Usage
  readonly expiresAt: number | undefined
}

/** Budgets in memory; an account that was forgotten to make room begins anew. */
export class MemoryBudgets implements BudgetStore {
  readonly #accounts: Recent<Account>

  constructor(max: number) {
    this.#accounts = new Recent(max)
  }

  reserve(accounts: readonly BudgetAccountLimits[], cost: number): BudgetOutcome {
    const amount = amountOf(cost)
    for (const { account, limits } of accounts) {
      const used = this.used(account)
      if (!hasRoom(limits, used, amount)) return { ok: false, account, used }
    }
    const used = accounts.map(({ account, expiresAt }) => {
      const { calls, cost, ...rest } = this.used(account)
      return this.#set(account, { ...rest, calls: calls + 1, cost: cost + amount }, expiresAt)
    })
    return { ok: true, used }
  }

  settle(accounts: readonly string[], { wallMs, bytes }: { wallMs: number; bytes: number }): readonly Usage[] {
    return accounts.map((account) =>
      this.#change(account, (used) => ({
        ...used,
        wallMs: used.wallMs + amountOf(wallMs),
        bytes: used.bytes + amountOf(bytes),
      })),
    )
  }

  release(accounts: readonly string[], cost: number): void {
    for (const account of accounts)
      this.#change(account, (used) => ({
        ...used,
        calls: Math.max(0, used.calls - 1),
        cost: Math.max(0, used.cost - amountOf(cost)),
      }))
  }

  used(account: string): Usage {
    return this.#accounts.get(account)?.used ?? NOTHING_USED
  }

  forget(account: string): void {
    this.#accounts.delete(account)
  }

  sweep(now: number): void {
    for (const [account, { expiresAt }] of this.#accounts.entries())
      if (expiresAt !== undefined && expiresAt <= now) this.#accounts.delete(account)
  }

  /** One that was forgotten meanwhile stays so. */
  #change(account: string, change: (used: Usage) => Usage): Usage {
    const known = this.#accounts.get(account)
    return known ? this.#set(account, change(known.used), known.expiresAt) : NOTHING_USED
  }

  #set(account: string, used: Usage, expiresAt: number | undefined): Usage {
    this.#accounts.set(account, { used, expiresAt })
    return used
  }
}
