import { api } from '../../api/api.ts'
import { useQuery } from '../../api/use-query.ts'
import { Page } from '../../components/page.tsx'
import { Tabs } from '../../components/tabs.tsx'
import { navigate, useSearchParam } from '../../router/router.ts'
import type { PageProps } from '../../router/routes.tsx'
import { AgentDrawer } from './agent-drawer.tsx'
import { AgentList } from './agent-list.tsx'
import { agentPath } from './agent-path.ts'
import { PrincipalDrawer } from './principal-drawer.tsx'
import { PrincipalList } from './principal-list.tsx'
import { principalPath } from './principal-path.ts'

/** Who uses the hub, with what they may and have used; and the sessions that work for them. */
export default function AgentsPage({ params: { id } }: PageProps) {
  const [view, setView] = useSearchParam('view', id === undefined ? 'agents' : 'sessions')
  const [who] = useSearchParam('who')
  const [of] = useSearchParam('of')
  const [state] = useSearchParam('state')
  const query = useQuery('principals', () => api.principals.list(), { refreshOn: ['approval'], everyMs: 10_000 })
  const opened = query.data?.find(({ name }) => name === who)
  return (
    <Page title="Agents" description="Who uses the hub, what they may do, and what works for them." fill>
      <Tabs
        label="Views of the agents"
        selected={view}
        onSelect={(next) => (id === undefined ? setView(next) : navigate(`/agents?view=${next}`))}
        fill
        tabs={[
          { id: 'agents', title: 'Agents', content: <PrincipalList query={query} opened={who} /> },
          {
            id: 'sessions',
            title: 'Sessions',
            content: <AgentList key={`${of} ${state}`} opened={id} principals={query.data ?? []} />,
          },
        ]}
      />
      {opened && <PrincipalDrawer key={who} principal={opened} onClose={() => navigate(principalPath(undefined))} />}
      {id !== undefined && <AgentDrawer key={id} id={id} onClose={() => navigate(agentPath(undefined))} />}
    </Page>
  )
}
