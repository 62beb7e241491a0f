import { Activity } from 'lucide-react'
import { api } from '../../api/session.ts'
import type { Health } from '../../api/types.ts'
import { useResource } from '../../api/use-resource.ts'
import { Section } from '../../components/page.tsx'
import { Plot } from '../../components/plot.tsx'
import { RefreshedPage } from '../../components/resource.tsx'
import { EmptyState } from '../../components/states.tsx'
import { formatDuration } from '../../lib/format.ts'
import styles from './health.module.css'
import { HealthFacts } from './health-facts.tsx'
import { BudgetSection, SandboxSection, ServerSection, ToolSection } from './health-sections.tsx'

const EVERY_MS = 5_000

/** The health of the service, fetched every five seconds. */
export default function HealthPage() {
  const query = useResource(['health'], () => api.health(), { everyMs: EVERY_MS })
  return (
    <RefreshedPage title="Health" description="Refreshed every 5 s." query={query}>
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
    </RefreshedPage>
  )
}

/** Calls, failures and latency per minute in the last hour. */
function RatePlots({ slices }: Pick<Health, 'slices'>) {
  const times = slices.map(({ at }) => at)
  if (slices.every(({ calls }) => calls === 0))
    return (
      <Section title="Last hour">
        <EmptyState icon={Activity} title="No calls in the last hour">
          Connect an agent to <code>/mcp</code> on this address, or try a tool on the Tools page.
        </EmptyState>
      </Section>
    )
  return (
    <Section title="Last hour">
      <div className={styles.columns}>
        <Plot
          title="Calls per minute"
          times={times}
          series={[
            { name: 'calls', tone: 'info', values: slices.map(({ calls }) => calls) },
            { name: 'failures', tone: 'bad', isDashed: true, values: slices.map(({ failures }) => failures) },
          ]}
        />
        <Plot
          title="Latency"
          times={times}
          format={formatDuration}
          series={[
            { name: 'mean', tone: 'ok', values: slices.map(({ meanMs }) => meanMs) },
            { name: 'slowest', tone: 'warn', isDashed: true, values: slices.map(({ maxMs }) => maxMs) },
          ]}
        />
      </div>
    </Section>
  )
}
