import { CornerDownRight } from 'lucide-react'
import { Badge } from '../../components/badge.tsx'
import { Duration } from '../../components/duration.tsx'
import type { Column } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { AgentState } from './agent-state.tsx'
import styles from './agents.module.css'
import type { AgentRow } from './order-as-tree.ts'

const LONGEST = 200

/** The columns of the list of agents. */
export const AGENT_COLUMNS: readonly Column<AgentRow>[] = [
  {
    id: 'name',
    title: 'Agent',
    width: 'minmax(200px, 1.4fr)',
    narrow: 'title',
    cell: ({ agent, depth }) => (
      <span className={styles.name}>
        {Array.from({ length: Math.min(depth, 6) }, (_, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: they are all the same.
          <CornerDownRight key={index} size={13} aria-hidden="true" className={styles.below} />
        ))}
        <span className={styles.label}>
          <VisibleText text={agent.label ?? agent.id} />
        </span>
        {agent.isTainted && <Badge tone="warn">untrusted</Badge>}
      </span>
    ),
  },
  {
    id: 'state',
    title: 'State',
    width: '112px',
    narrow: 'side',
    cell: ({ agent }) => <AgentState state={agent.state} />,
  },
  {
    id: 'task',
    title: 'Task',
    width: 'minmax(160px, 2fr)',
    narrow: 'plain',
    cell: ({ agent: { task, reason, state } }) => (
      <VisibleText text={((state === 'failed' ? reason : undefined) ?? task ?? '').slice(0, LONGEST)} />
    ),
  },
  {
    id: 'runner',
    title: 'Runner',
    width: 'minmax(64px, 96px)',
    narrow: 'hidden',
    cell: ({ agent: { runner } }) => (runner === undefined ? '–' : <VisibleText text={runner} />),
  },
  {
    id: 'principal',
    title: 'For',
    width: 'minmax(72px, 112px)',
    narrow: 'hidden',
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
    width: '88px',
    align: 'end',
    narrow: 'meta',
    cell: ({ agent: { createdAt, endedAt } }) => (
      <Duration ms={endedAt === undefined ? undefined : Date.parse(endedAt) - Date.parse(createdAt)} />
    ),
  },
  {
    id: 'started',
    title: 'Started',
    width: '112px',
    align: 'end',
    narrow: 'meta',
    cell: ({ agent }) => <Time at={agent.createdAt} />,
  },
]
