import type { BudgetStore, Usage } from '../../store.ts'
import { amountOf, hasRoom, NOTHING_USED } from '../rules/usage.ts'
import type { Connection } from './connection.ts'

interface UsageRow {
  readonly calls: number
  readonly wall_ms: number
  readonly bytes: number
  readonly cost: number
}

/** Budgets in the file. */
export function createBudgets(connection: Connection): BudgetStore {
  const find = connection.statement<UsageRow>('SELECT calls, wall_ms, bytes, cost FROM budgets WHERE account = ?')
  const count = connection.statement<UsageRow>(
    `INSERT INTO budgets (account, calls, wall_ms, bytes, cost, expires_at) VALUES (?, 1, 0, 0, ?, ?)
     ON CONFLICT (account) DO UPDATE
     SET calls = budgets.calls + 1, cost = budgets.cost + excluded.cost, expires_at = excluded.expires_at
     RETURNING calls, wall_ms, bytes, cost`,
  )
  const settle = connection.statement<UsageRow>(
    'UPDATE budgets SET wall_ms = wall_ms + ?, bytes = bytes + ? WHERE account = ? RETURNING calls, wall_ms, bytes, cost',
  )
  const release = connection.statement(
    `UPDATE budgets
     SET calls = CASE WHEN calls > 0 THEN calls - 1 ELSE 0 END, cost = CASE WHEN cost > ? THEN cost - ? ELSE 0 END
     WHERE account = ?`,
  )
  const forget = connection.statement('DELETE FROM budgets WHERE account = ?')
  const used = (account: string) => toUsage(find.get(account))
  return {
    reserve: (accounts, cost) => {
      if (accounts.length === 0) return { ok: true, used: [] }
      const amount = amountOf(cost)
      return connection.transaction(() => {
        for (const { account, limits } of accounts) {
          const before = used(account)
          if (!hasRoom(limits, before, amount)) return { ok: false, account, used: before }
        }
        return {
          ok: true,
          used: accounts.map(({ account, expiresAt }) => toUsage(count.get(account, amount, expiresAt))),
        }
      })
    },
    settle: (accounts, { wallMs, bytes }) =>
      accounts.length === 0
        ? []
        : connection.transaction(() =>
            accounts.map((account) => toUsage(settle.get(amountOf(wallMs), amountOf(bytes), account))),
          ),
    release(accounts, cost) {
      const amount = amountOf(cost)
      if (accounts.length === 0) return
      connection.transaction(() => {
        for (const account of accounts) release.run(amount, amount, account)
      })
    },
    used,
    forget(account) {
      forget.run(account)
    },
  }
}

function toUsage(row: UsageRow | undefined): Usage {
  return row ? { calls: row.calls, wallMs: row.wall_ms, bytes: row.bytes, cost: row.cost } : NOTHING_USED
}
