import { api } from '../../api/session.ts'
import { useResource } from '../../api/use-resource.ts'
import { ViewsPage } from '../../components/resource.tsx'
import { navigate, useSearchParam } from '../../router/router.ts'
import type { PageProps } from '../../router/routes.tsx'
import { PrincipalDrawer, PrincipalList, principalPath } from './principals.tsx'
import { SessionDrawer } from './session-drawer.tsx'
import { SessionList, sessionPath } from './sessions.tsx'

/** Who uses the hub, with permissions and budgets, and the sessions that work for them. */
export default function AgentsPage({ params: { id } }: PageProps) {
  const [who] = useSearchParam('who')
  const [of] = useSearchParam('of')
  const [state] = useSearchParam('state')
  const query = useResource(['principals'], () => api.principals.list(), { refreshOn: ['approval'], everyMs: 10_000 })
  const opened = query.data?.find(({ name }) => name === who)
  return (
    <ViewsPage
      title="Agents"
      description="Who uses the hub, what they may do, and the sessions that work for them."
      fill
      label="Views of the agents"
      initial={id === undefined ? 'agents' : 'sessions'}
      onSelect={id === undefined ? undefined : (next) => navigate(`/agents?view=${next}`)}
      views={[
        { id: 'agents', title: 'Agents', content: <PrincipalList query={query} opened={who} /> },
        {
          id: 'sessions',
          title: 'Sessions',
          content: <SessionList key={`${of} ${state}`} opened={id} principals={query.data ?? []} />,
        },
      ]}
    >
      {opened && <PrincipalDrawer key={who} principal={opened} onClose={() => navigate(principalPath(undefined))} />}
      {id !== undefined && <SessionDrawer key={id} id={id} onClose={() => navigate(sessionPath(undefined))} />}
    </ViewsPage>
  )
}
