import { Page } from '../../components/page.tsx'
import { navigate, useSearchParam } from '../../router/router.ts'
import type { PageProps } from '../../router/routes.tsx'
import { AgentDrawer } from './agent-drawer.tsx'
import { AgentList } from './agent-list.tsx'
import { agentPath } from './agent-path.ts'

/** The sessions of agents: who works on what, for whom, and what became of it. */
export default function AgentsPage({ params: { id } }: PageProps) {
  const [state, setState] = useSearchParam('state')
  return (
    <Page title="Agents" description="Who works on what, who began it, and what became of it." fill>
      <AgentList key={state} state={state} setState={setState} opened={id} />
      {id !== undefined && (
        <AgentDrawer key={id} id={id} state={state} onClose={() => navigate(agentPath(undefined, state))} />
      )}
    </Page>
  )
}
