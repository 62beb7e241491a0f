import { Bot } from 'lucide-react'
import { useMemo } from 'react'
import { api } from '../../api/api.ts'
import type { AgentEntry, PrincipalEntry } from '../../api/types.ts'
import { usePages } from '../../api/use-pages.ts'
import { Button } from '../../components/button.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { FilterBar } from '../../components/filter-bar.tsx'
import { FilterSelect } from '../../components/filter-select.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Table } from '../../components/table.tsx'
import { navigate, useSearchParam } from '../../router/router.ts'
import { AGENT_COLUMNS } from './agent-columns.tsx'
import { agentPath } from './agent-path.ts'
import styles from './agents.module.css'
import { orderAsTree } from './order-as-tree.ts'

interface AgentListProps {
  readonly opened: string | undefined
  /** Those whose sessions can be chosen. */
  readonly principals: readonly PrincipalEntry[]
}

const PAGE = 100
const STATES: readonly (readonly [string, string])[] = [
  ['', 'Every state'],
  ['running', 'Running'],
  ['ended', 'Ended'],
  ['failed', 'Failed'],
]

/** The sessions, newest first, those that one began below it. */
export function AgentList({ opened, principals }: AgentListProps) {
  const [state, setState] = useSearchParam('state')
  const [of, setOf] = useSearchParam('of')
  const wanted = STATES.some(([known]) => known === state) && state !== '' ? (state as AgentEntry['state']) : undefined
  const { query, items, hasMore, loadMore } = usePages(
    `agents list ${JSON.stringify([state, of])}`,
    async (before?: string) => {
      const { agents, next } = await api.agents.list({ principal: of || undefined, state: wanted, limit: PAGE, before })
      return { items: agents, next }
    },
    { what: 'sessions', compare: newestFirst, refreshOn: ['ability-changed'], ability: 'sessions' },
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
      <Loaded query={query}>
        {() => (
          <Table
            label="Sessions"
            rows={rows}
            columns={AGENT_COLUMNS}
            rowKey={({ agent }) => agent.id}
            onOpen={({ agent }) => navigate(agentPath(agent.id))}
            selected={opened}
            onEnd={loadMore}
            tone={({ agent }) => (agent.state === 'failed' ? 'bad' : undefined)}
            empty={wanted === undefined && of === '' ? <NoSessions /> : <NoneSo />}
          />
        )}
      </Loaded>
    </div>
  )
}

function NoSessions() {
  return (
    <EmptyState icon={Bot} title="No sessions yet">
      Every run is a session; with the tool <code>core/session.spawn</code> an agent begins others. Name the programs
      that may work in them under <code>sessions.runners</code> in tool-hub.yaml; docs/sessions.md explains how.
    </EmptyState>
  )
}

function NoneSo() {
  return (
    <EmptyState
      icon={Bot}
      title="No session fits"
      action={<Button onClick={() => navigate('/agents?view=sessions')}>Show all sessions</Button>}
    >
      Choose another state, or somebody else.
    </EmptyState>
  )
}

function newestFirst(a: AgentEntry, b: AgentEntry): number {
  return Date.parse(b.createdAt) - Date.parse(a.createdAt) || (a.id < b.id ? 1 : -1)
}
