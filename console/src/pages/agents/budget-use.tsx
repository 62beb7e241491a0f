import type { PrincipalEntry } from '../../api/types.ts'
import { Badge } from '../../components/badge.tsx'
import styles from './agents.module.css'
import { describeUse } from './describe-principal.ts'

/** What is used of each budget today. */
export function BudgetUse({ budgets }: Pick<PrincipalEntry, 'budgets'>) {
  if (budgets.length === 0) return <span className={styles.muted}>no budget</span>
  return (
    <span className={styles.lines}>
      {budgets.map((budget) => (
        <span key={budget.unit} className={styles.use}>
          {describeUse(budget)}
          {budget.used >= budget.limit && <Badge tone="bad">used up</Badge>}
          {budget.used < budget.limit && budget.used >= budget.limit * 0.8 && <Badge tone="warn">nearly used up</Badge>}
        </span>
      ))}
    </span>
  )
}
