import { Bot } from 'lucide-react'
import { useMemo } from 'react'
import { api } from '../../api/api.ts'
import type { AgentEntry } from '../../api/types.ts'
import { usePages } from '../../api/use-pages.ts'
import { Button } from '../../components/button.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { FilterBar } from '../../components/filter-bar.tsx'
import { FilterSelect } from '../../components/filter-select.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Table } from '../../components/table.tsx'
import { navigate } from '../../router/router.ts'
import { AGENT_COLUMNS } from './agent-columns.tsx'
import { agentPath } from './agent-path.ts'
import { orderAsTree } from './order-as-tree.ts'

interface AgentListProps {
  readonly state: string
  readonly setState: (state: string) => void
  readonly opened: string | undefined
}

const PAGE = 100
const STATES: readonly (readonly [string, string])[] = [
  ['', 'Every state'],
  ['running', 'Running'],
  ['ended', 'Ended'],
  ['failed', 'Failed'],
]

/** The agents, newest first, those that one began below it. */
export function AgentList({ state, setState, opened }: AgentListProps) {
  const wanted = STATES.some(([known]) => known === state) && state !== '' ? (state as AgentEntry['state']) : undefined
  const { query, items, hasMore, loadMore } = usePages(
    `agents list ${state}`,
    async (before?: string) => {
      const { agents, next } = await api.agents.list({ state: wanted, limit: PAGE, before })
      return { items: agents, next }
    },
    { what: 'agents', compare: newestFirst, refreshOn: ['ability-changed'], ability: 'sessions' },
  )
  const rows = useMemo(() => orderAsTree(items), [items])
  const count = `${items.length.toLocaleString('en')}${hasMore ? '+' : ''}`
  return (
    <>
      <FilterBar summary={query.data && `${count} ${count === '1' ? 'agent' : 'agents'}`}>
        <FilterSelect label="State" value={state} options={STATES} onChange={setState} />
      </FilterBar>
      <Loaded query={query}>
        {() => (
          <Table
            label="Agents"
            rows={rows}
            columns={AGENT_COLUMNS}
            rowKey={({ agent }) => agent.id}
            onOpen={({ agent }) => navigate(agentPath(agent.id, state))}
            selected={opened}
            onEnd={loadMore}
            tone={({ agent }) => (agent.state === 'failed' ? 'bad' : undefined)}
            empty={wanted === undefined ? <NoAgents /> : <NoneSo state={state} onClear={() => setState('')} />}
          />
        )}
      </Loaded>
    </>
  )
}

function NoAgents() {
  return (
    <EmptyState icon={Bot} title="No agents yet">
      An agent appears here with its first call, and with the tool <code>core/session.spawn</code> it begins others. Say
      who may work for it under <code>sessions.runners</code> in tool-hub.yaml; docs/sessions.md tells how.
    </EmptyState>
  )
}

function NoneSo({ state, onClear }: { state: string; onClear: () => void }) {
  return (
    <EmptyState
      icon={Bot}
      title={`No agent is ${state === 'failed' ? 'known to have failed' : state}`}
      action={<Button onClick={onClear}>Show every state</Button>}
    >
      Choose another state, or look at all of them.
    </EmptyState>
  )
}

function newestFirst(a: AgentEntry, b: AgentEntry): number {
  return Date.parse(b.createdAt) - Date.parse(a.createdAt) || (a.id < b.id ? 1 : -1)
}
