import { ArrowRight, Bot } from 'lucide-react'
import { Link } from 'wouter'
import { api, useMe } from '../../api/session.ts'
import type { PrincipalEntry } from '../../api/types.ts'
import { type Resource, useResource } from '../../api/use-resource.ts'
import { Badge } from '../../components/badge.tsx'
import { DetailPart, Facts } from '../../components/details.tsx'
import { Drawer } from '../../components/dialog.tsx'
import { Loaded, ResourceTable } from '../../components/resource.tsx'
import { EmptyState } from '../../components/states.tsx'
import type { Column } from '../../components/table.tsx'
import { VisibleText } from '../../components/text.tsx'
import { Time } from '../../components/time.tsx'
import { classNames } from '../../lib/class-names.ts'
import { navigate } from '../../router/router.ts'
import styles from './agents.module.css'
import { describeKind, describeRights, describeUse } from './describe.ts'
import { SessionLinks } from './sessions.tsx'

interface PrincipalListProps {
  readonly query: Resource<PrincipalEntry[]>
  readonly opened: string
}

/** The principals that use the hub, the most recent first. */
export function PrincipalList({ query, opened }: PrincipalListProps) {
  return (
    <ResourceTable
      query={query}
      label="Agents"
      rows={query.data ?? []}
      columns={PRINCIPAL_COLUMNS}
      rowKey={({ name }) => name}
      onOpen={({ name }) => navigate(principalPath(name))}
      selected={opened}
      tone={({ waiting }) => (waiting > 0 ? 'warn' : undefined)}
      empty={
        <EmptyState icon={Bot} title="Nobody uses the hub yet">
          Create a token for each agent on the Tokens page, or connect one to <code>/mcp</code> on this address.
        </EmptyState>
      }
    />
  )
}

/** The columns of the list of principals. */
const PRINCIPAL_COLUMNS: readonly Column<PrincipalEntry>[] = [
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

const MAX_SESSIONS = 10

/** A principal: permissions, budget, and the sessions that work for it. */
export function PrincipalDrawer({ principal, onClose }: { principal: PrincipalEntry; onClose: () => void }) {
  const { name, runs, calls, lastAt, expiresAt, callers, waiting, schedules } = principal
  const isAdmin = useMe().may('admin')
  return (
    <Drawer isOpen onClose={onClose} isWide title={<VisibleText text={name} />}>
      <Facts
        facts={[
          ['Kind', describeKind(principal)],
          ['Last seen', lastAt === undefined ? 'never' : <Time key="seen" at={lastAt} />],
          ['Expires', expiresAt !== undefined && <Time key="expires" at={expiresAt} />],
          ['Caller names', callers.length > 0 && <VisibleText key="callers" text={callers.join(', ')} />],
          ['Used today', <BudgetUse key="budget" budgets={principal.budgets} />],
          [
            'Runs',
            runs === 0 ? (
              'none'
            ) : (
              <Link key="runs" to={runsPath(name)}>
                {count(runs, 'run')} with {count(calls, 'call')}
              </Link>
            ),
          ],
          [
            'Waiting',
            waiting > 0 && (
              <Link key="waiting" to="/approvals">
                {waiting === 1 ? '1 pending approval' : `${waiting.toLocaleString('en')} pending approvals`}
              </Link>
            ),
          ],
          [
            'Schedules',
            schedules > 0 && (
              <Link key="schedules" to="/schedules">
                {count(schedules, 'schedule')}
              </Link>
            ),
          ],
        ]}
      />
      <DetailPart title="What it may do">
        <ul className={styles.rights}>
          {describeRights(principal).map((right) => (
            <li key={right}>
              <VisibleText text={right} />
            </li>
          ))}
        </ul>
        {isAdmin && principal.kind === 'token' && <Link to="/tokens">Manage tokens</Link>}
      </DetailPart>
      <DetailPart title="Latest sessions">
        <LatestSessions name={name} />
      </DetailPart>
    </Drawer>
  )
}

function LatestSessions({ name }: { name: string }) {
  const query = useResource(['agents', 'of', name], () => api.agents.list({ principal: name, limit: MAX_SESSIONS }), {
    feature: 'sessions',
  })
  return (
    <Loaded query={query}>
      {({ agents }) =>
        agents.length === 0 ? (
          <p className={styles.muted}>There are no sessions.</p>
        ) : (
          <>
            <SessionLinks agents={agents} label="Latest sessions" />
            <Link to={sessionsPath(name)} className={styles.run}>
              All sessions <ArrowRight size={13} aria-hidden="true" />
            </Link>
          </>
        )
      }
    </Loaded>
  )
}

function count(number: number, what: string): string {
  return `${number.toLocaleString('en')} ${what}${number === 1 ? '' : 's'}`
}

/** How much of each budget is used today. */
function BudgetUse({ budgets }: Pick<PrincipalEntry, 'budgets'>) {
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

/** The address of a principal. */
export function principalPath(name: string | undefined): string {
  return name === undefined ? '/agents' : `/agents?who=${encodeURIComponent(name)}`
}

/** The address of the runs of a principal, including those of its sessions. */
function runsPath(name: string): string {
  return `/runs?caller=${encodeURIComponent(name)}`
}

/** The address of the sessions of a principal. */
function sessionsPath(name: string): string {
  return `/agents?view=sessions&of=${encodeURIComponent(name)}`
}
