import { Bot, CornerDownRight, LoaderCircle } from 'lucide-react'
import { useMemo } from 'react'
import { Link } from 'wouter'
import { api } from '../../api/session.ts'
import type { AgentEntry, AgentStatus, PrincipalEntry } from '../../api/types.ts'
import { usePages } from '../../api/use-pages.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { FilterBar, FilterSelect } from '../../components/filters.tsx'
import { ResourceTable } from '../../components/resource.tsx'
import { EmptyState } from '../../components/states.tsx'
import type { Column } from '../../components/table.tsx'
import { VisibleText } from '../../components/text.tsx'
import { Duration, Time } from '../../components/time.tsx'
import { navigate, useSearchParam } from '../../router/router.ts'
import styles from './agents.module.css'
import { type AgentRow, orderAsTree } from './describe.ts'

interface AgentListProps {
  readonly opened: string | undefined
  /** The options of the filter. */
  readonly principals: readonly PrincipalEntry[]
}

const PAGE = 100
const STATES: readonly (readonly [string, string])[] = [
  ['', 'Every state'],
  ['running', 'Running'],
  ['ended', 'Ended'],
  ['failed', 'Failed'],
]

/** The sessions, newest first, each with the sessions that it started below it. */
export function SessionList({ opened, principals }: AgentListProps) {
  const [state, setState] = useSearchParam('state')
  const [of, setOf] = useSearchParam('of')
  const wanted = STATES.some(([known]) => known === state) && state !== '' ? (state as AgentEntry['state']) : undefined
  const { query, items, hasMore, loadMore } = usePages(
    ['agents', 'list', state, of],
    async (before?: string) => {
      const { agents, next } = await api.agents.list({ principal: of || undefined, state: wanted, limit: PAGE, before })
      return { items: agents, next }
    },
    { what: 'sessions', compare: newestFirst, feature: 'sessions' },
  )
  const names = [...new Set([...principals.map(({ name }) => name), ...(of === '' ? [] : [of])])].sort()
  const rows = useMemo(() => orderAsTree(items), [items])
  const count = `${items.length.toLocaleString('en')}${hasMore ? '+' : ''}`
  return (
    <div className={styles.view}>
      <FilterBar summary={query.data && `${count} ${count === '1' ? 'session' : 'sessions'}`}>
        <FilterSelect
          label="For"
          value={of}
          options={[['', 'Everybody'], ...names.map((name) => [name, name] as const)]}
          onChange={setOf}
        />
        <FilterSelect label="State" value={state} options={STATES} onChange={setState} />
      </FilterBar>
      <ResourceTable
        query={query}
        label="Sessions"
        rows={rows}
        columns={SESSION_COLUMNS}
        rowKey={({ agent }) => agent.id}
        onOpen={({ agent }) => navigate(sessionPath(agent.id))}
        selected={opened}
        onEnd={loadMore}
        tone={({ agent }) => (agent.state === 'failed' ? 'bad' : undefined)}
        empty={wanted === undefined && of === '' ? <NoSessions /> : <NoneSo />}
      />
    </div>
  )
}

function NoSessions() {
  return (
    <EmptyState icon={Bot} title="No sessions yet">
      Every run is a session; with the tool <code>core/session.spawn</code> an agent starts others. Configure the
      programs that may run in them under <code>sessions.runners</code> in tool-hub.yaml; see
      docs/reference/sessions.md.
    </EmptyState>
  )
}

function NoneSo() {
  return (
    <EmptyState
      icon={Bot}
      title="No session matches"
      action={<Button onClick={() => navigate('/agents?view=sessions')}>Show all sessions</Button>}
    >
      Select another state or another agent.
    </EmptyState>
  )
}

function newestFirst(a: AgentEntry, b: AgentEntry): number {
  return Date.parse(b.createdAt) - Date.parse(a.createdAt) || (a.id < b.id ? 1 : -1)
}

const MAX_CHARS = 300

/** The columns of the list of sessions. */
const SESSION_COLUMNS: readonly Column<AgentRow>[] = [
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
    cell: ({ agent }) => <SessionState state={agent.state} />,
  },
  {
    id: 'principal',
    title: 'For',
    width: 'minmax(112px, 1.2fr)',
    wraps: true,
    narrow: 'plain',
    // The root principal: a session within a session has a longer name.
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

/** Sessions as short links. */
export function SessionLinks({ agents, label }: { agents: AgentStatus['children']; label: string }) {
  return (
    <ul className={styles.list} aria-label={label}>
      {agents.map(({ id, label, state, runner }) => (
        <li key={id} className={styles.entry}>
          <SessionState state={state} />
          <Link to={sessionPath(id)}>
            <VisibleText text={label ?? id} />
          </Link>
          {runner !== undefined && (
            <span className={styles.muted}>
              <VisibleText text={runner} />
            </span>
          )}
        </li>
      ))}
    </ul>
  )
}

/** The state of a session. */
export function SessionState({ state }: { state: AgentEntry['state'] }) {
  if (state === 'running') {
    return (
      <Badge tone="info" icon={LoaderCircle}>
        running
      </Badge>
    )
  }
  return <Badge tone={state === 'failed' ? 'bad' : 'ok'}>{state}</Badge>
}

/** The address of a session; keeps the filters of the list. */
export function sessionPath(id: string | undefined): string {
  const params = new URLSearchParams(window.location.search)
  const kept = new URLSearchParams({ view: 'sessions' })
  for (const name of ['of', 'state']) if (params.get(name)) kept.set(name, params.get(name) ?? '')
  return `/agents${id === undefined ? '' : `/${encodeURIComponent(id)}`}?${kept}`
}
