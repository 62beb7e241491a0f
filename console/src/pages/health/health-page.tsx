import { api } from '../../api/api.ts'
import { useQuery } from '../../api/use-query.ts'
import { formatDuration } from '../../components/format-duration.ts'
import { Loaded } from '../../components/loaded.tsx'
import { Page } from '../../components/page.tsx'
import { Plot } from '../../components/plot.tsx'
import { Section } from '../../components/section.tsx'

/** How the service does. */
export default function HealthPage() {
  const query = useQuery('health', () => api.health(), { everyMs: 10_000 })
  return (
    <Page title="Health" description={query.data && `Up for ${formatDuration(query.data.uptimeMs)}`}>
      <Loaded query={query}>
        {({ slices }) => (
          <Section title="Last hour">
            <Plot
              title="Calls a minute"
              times={slices.map(({ at }) => at)}
              series={[
                { name: 'calls', tone: 'info', values: slices.map(({ calls }) => calls) },
                { name: 'failures', tone: 'bad', values: slices.map(({ failures }) => failures) },
              ]}
            />
            <Plot
              title="Duration"
              times={slices.map(({ at }) => at)}
              format={formatDuration}
              series={[
                { name: 'mean', tone: 'ok', values: slices.map(({ meanMs }) => meanMs) },
                { name: 'slowest', tone: 'warn', values: slices.map(({ maxMs }) => maxMs) },
              ]}
            />
          </Section>
        )}
      </Loaded>
    </Page>
  )
}
