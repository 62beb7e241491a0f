import { Activity } from 'lucide-react'
import type { Health } from '../../api/types.ts'
import { EmptyState } from '../../components/empty-state.tsx'
import { formatDuration } from '../../components/format-duration.ts'
import { Plot } from '../../components/plot.tsx'
import { Section } from '../../components/section.tsx'
import styles from './health.module.css'

/** Calls, failures and how long they took, a minute each over the last hour. */
export function RatePlots({ slices }: Pick<Health, 'slices'>) {
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
          title="Calls a minute"
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
