import type { PrincipalEntry } from '../../api/types.ts'
import { Badge } from '../../components/badge.tsx'
import { classNames } from '../../components/class-names.ts'
import type { Column } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { Link } from '../../router/link.tsx'
import styles from './agents.module.css'
import { BudgetUse } from './budget-use.tsx'
import { describeKind, describeRights } from './describe-principal.ts'
import { runsPath } from './principal-path.ts'

/** The columns of the list of those who use the hub. */
export const PRINCIPAL_COLUMNS: readonly Column<PrincipalEntry>[] = [
  {
    id: 'name',
    title: 'Agent',
    width: 'minmax(144px, 1.2fr)',
    wraps: true,
    narrow: 'title',
    cell: (principal) => (
      <span className={styles.lines}>
        <VisibleText text={principal.name} />
        <span className={styles.small}>
          <VisibleText text={[describeKind(principal), ...principal.callers].join(', ')} />
        </span>
      </span>
    ),
  },
  {
    id: 'rights',
    title: 'May',
    width: 'minmax(160px, 2fr)',
    wraps: true,
    narrow: 'plain',
    cell: (principal) => <VisibleText text={describeRights(principal).join('; ')} />,
  },
  {
    id: 'budget',
    title: 'Used today',
    width: 'minmax(112px, 1fr)',
    wraps: true,
    cell: ({ budgets }) => <BudgetUse budgets={budgets} />,
  },
  {
    id: 'waiting',
    title: 'Waiting',
    width: '96px',
    narrow: 'side',
    cell: ({ waiting }) =>
      waiting > 0 ? (
        <Link to="/approvals">
          <Badge tone="warn">{waiting.toLocaleString('en')} waiting</Badge>
        </Link>
      ) : (
        <span className={classNames(styles.muted, styles.wide)}>none</span>
      ),
  },
  {
    id: 'runs',
    title: 'Runs',
    width: '80px',
    align: 'end',
    narrow: 'meta',
    cell: ({ name, runs }) =>
      runs === 0 ? (
        <span className={styles.muted}>none</span>
      ) : (
        <Link to={runsPath(name)}>
          {runs.toLocaleString('en')}
          <span className={styles.unit}> {runs === 1 ? 'run' : 'runs'}</span>
        </Link>
      ),
  },
  {
    id: 'seen',
    title: 'Last seen',
    width: '112px',
    align: 'end',
    narrow: 'meta',
    cell: ({ lastAt }) => (lastAt === undefined ? <span className={styles.muted}>never</span> : <Time at={lastAt} />),
  },
]
