import { ArrowRight } from 'lucide-react'
import { api } from '../../api/api.ts'
import type { PrincipalEntry } from '../../api/types.ts'
import { useMe } from '../../api/use-me.ts'
import { useQuery } from '../../api/use-query.ts'
import { DetailPart } from '../../calls/detail-part.tsx'
import { Drawer } from '../../components/drawer.tsx'
import { Facts } from '../../components/facts.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Time } from '../../components/time.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { Link } from '../../router/link.tsx'
import { AgentChildren } from './agent-children.tsx'
import styles from './agents.module.css'
import { BudgetUse } from './budget-use.tsx'
import { describeKind, describeRights } from './describe-principal.ts'
import { runsPath, sessionsPath } from './principal-path.ts'

const MAX_SESSIONS = 10

/** Somebody who uses the hub: rights, budget, and the sessions that work for it. */
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
          ['Calls as', callers.length > 0 && <VisibleText key="callers" text={callers.join(', ')} />],
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
                {waiting === 1 ? '1 answer of a person' : `${waiting.toLocaleString('en')} answers of people`}
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
  const query = useQuery(`agents of ${name}`, () => api.agents.list({ principal: name, limit: MAX_SESSIONS }), {
    refreshOn: ['ability-changed'],
    ability: 'sessions',
  })
  return (
    <Loaded query={query}>
      {({ agents }) =>
        agents.length === 0 ? (
          <p className={styles.muted}>No session of it is known.</p>
        ) : (
          <>
            <AgentChildren agents={agents} label="Latest sessions" />
            <Link to={sessionsPath(name)} className={styles.run}>
              All of its sessions <ArrowRight size={13} aria-hidden="true" />
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
