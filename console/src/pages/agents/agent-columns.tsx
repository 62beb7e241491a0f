import { CornerDownRight } from 'lucide-react'
import { Badge } from '../../components/badge.tsx'
import { Duration } from '../../components/duration.tsx'
import type { Column } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { AgentState } from './agent-state.tsx'
import styles from './agents.module.css'
import type { AgentRow } from './order-as-tree.ts'

const MAX_CHARS = 300

/** The columns of the list of sessions. */
export const AGENT_COLUMNS: readonly Column<AgentRow>[] = [
  {
    id: 'name',
    title: 'Session',
    width: 'minmax(200px, 3fr)',
    wraps: true,
    narrow: 'title',
    cell: ({ agent, depth }) => (
      <span className={styles.name}>
        {Array.from({ length: Math.min(depth, 6) }, (_, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: they are all the same.
          <CornerDownRight key={index} size={13} aria-hidden="true" className={styles.below} />
        ))}
        <span className={styles.lines}>
          <span className={styles.use}>
            <VisibleText text={agent.label ?? agent.id} />
            {agent.isTainted && <Badge tone="warn">untrusted</Badge>}
          </span>
          {agent.task !== undefined && (
            <span className={styles.task}>
              <VisibleText text={agent.task.slice(0, MAX_CHARS)} />
            </span>
          )}
        </span>
      </span>
    ),
  },
  {
    id: 'state',
    title: 'State',
    width: '104px',
    narrow: 'side',
    cell: ({ agent }) => <AgentState state={agent.state} />,
  },
  {
    id: 'principal',
    title: 'For',
    width: 'minmax(112px, 1.2fr)',
    wraps: true,
    narrow: 'plain',
    // Whom it works for in the end: a session within a session has a longer name.
    cell: ({ agent: { principal = 'owner' } }) => (
      <span title={principal}>
        <VisibleText text={principal.split('/')[0] ?? principal} />
      </span>
    ),
  },
  {
    id: 'took',
    title: 'Took',
    width: '104px',
    align: 'end',
    narrow: 'meta',
    cell: ({ agent: { createdAt, endedAt } }) => (
      <Duration ms={endedAt === undefined ? undefined : Date.parse(endedAt) - Date.parse(createdAt)} />
    ),
  },
  {
    id: 'started',
    title: 'Started',
    width: '168px',
    align: 'end',
    narrow: 'meta',
    cell: ({ agent }) => <Time at={agent.createdAt} />,
  },
]
