import { RotateCw } from 'lucide-react'
import { api } from '../../api/api.ts'
import { useQuery } from '../../api/use-query.ts'
import { Button } from '../../components/button.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Note } from '../../components/note.tsx'
import { Page } from '../../components/page.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { useShortcut } from '../../keyboard/use-shortcut.ts'
import { BudgetSection } from './budget-section.tsx'
import { HealthFacts } from './health-facts.tsx'
import { RatePlots } from './rate-plots.tsx'
import { SandboxSection } from './sandbox-section.tsx'
import { ServerSection } from './server-section.tsx'
import { ToolSection } from './tool-section.tsx'

const EVERY_MS = 5_000

/** How the service does, looked at every five seconds. */
export default function HealthPage() {
  const query = useQuery('health', () => api.health(), { everyMs: EVERY_MS })
  useShortcut('u', 'Refresh', query.refresh)
  return (
    <Page
      title="Health"
      description="Refreshed every 5 s."
      actions={
        <Button icon={RotateCw} shortcut="u" onClick={query.refresh}>
          Refresh
        </Button>
      }
    >
      {query.error && query.data && (
        <Note tone="warn" isLive title={<VisibleText text={`This is old: ${query.error.message}`} />}>
          <p>It is asked again by itself.</p>
        </Note>
      )}
      <Loaded query={query}>
        {(health) => (
          <>
            <HealthFacts health={health} />
            <RatePlots slices={health.slices} />
            <ToolSection tools={health.tools} />
            <BudgetSection budgets={health.budgets} />
            <ServerSection servers={health.servers} />
            <SandboxSection sandbox={health.sandbox} />
          </>
        )}
      </Loaded>
    </Page>
  )
}
