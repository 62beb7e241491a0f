import { ArrowRight } from 'lucide-react'
import type { AgentStatus } from '../../api/types.ts'
import { runPath } from '../../calls/run-path.ts'
import { Badge } from '../../components/badge.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { Facts } from '../../components/facts.tsx'
import { Time } from '../../components/time.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { Link } from '../../router/link.tsx'
import { agentPath } from './agent-path.ts'
import { AgentState } from './agent-state.tsx'
import styles from './agents.module.css'
import { describeBudget } from './describe-budget.ts'

/** How it is, whose it is, and what it has used. */
export function AgentFacts({ status }: { status: AgentStatus }) {
  const { session, budget, unread } = status
  const { id, state, parent, runner, principal, createdAt, endedAt, isTainted } = session
  return (
    <>
      <div className={styles.head}>
        <AgentState state={state} />
        {isTainted && <Badge tone="warn">untrusted</Badge>}
        <Link to={runPath(id)} className={styles.run}>
          Its calls as a run <ArrowRight size={13} aria-hidden="true" />
        </Link>
      </div>
      <Facts
        facts={[
          ['Started', <Time key="started" at={createdAt} />],
          ['Ended', endedAt && <Time key="ended" at={endedAt} />],
          ['Runner', runner && <VisibleText key="runner" text={runner} />],
          ['For', <VisibleText key="for" text={principal ?? 'owner'} />],
          ['Begun by', parent && <AgentLink key="parent" id={parent} />],
          ['Budget', budget && describeBudget(budget)],
          ['Unread', unread > 0 && `${unread.toLocaleString('en')} ${unread === 1 ? 'message' : 'messages'} to it`],
          [
            'Session',
            <span key="session" className={styles.id}>
              <code>
                <VisibleText text={id} />
              </code>{' '}
              <CopyButton text={id} label="Copy the id of the session" />
            </span>,
          ],
        ]}
      />
    </>
  )
}

function AgentLink({ id }: { id: string }) {
  return (
    <Link to={agentPath(id)}>
      <VisibleText text={id} />
    </Link>
  )
}
