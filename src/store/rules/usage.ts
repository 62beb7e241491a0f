import type { BudgetLimits } from '../../options.ts'
import type { Usage } from '../../store.ts'

/** What an account has used that nobody has charged yet. */
export const NOTHING_USED: Usage = Object.freeze({ calls: 0, wallMs: 0, bytes: 0, cost: 0 })

/** Whether one more call of this cost fits. Comparisons are written so that a limit that is no number refuses. */
export function hasRoom(limits: BudgetLimits, used: Usage, cost: number): boolean {
  if (limits.calls !== undefined && !(used.calls + 1 <= limits.calls)) return false
  if (limits.cost !== undefined && !(used.cost + cost <= limits.cost)) return false
  if (limits.wallMs !== undefined && !(used.wallMs < limits.wallMs)) return false
  return limits.bytes === undefined || used.bytes < limits.bytes
}

/** An amount as it is counted: never less than nothing, and what is no number uses up every limit. */
export function amountOf(value: number): number {
  if (Number.isNaN(value)) return Number.MAX_SAFE_INTEGER
  return Math.min(Math.max(0, value), Number.MAX_SAFE_INTEGER)
}
