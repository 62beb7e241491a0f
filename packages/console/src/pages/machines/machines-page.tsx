import { api, useMe } from '../../api/session.ts'
import type { ClusterState, Health } from '../../api/types.ts'
import { useResource } from '../../api/use-resource.ts'
import { Badge } from '../../components/badge.tsx'
import { Note } from '../../components/note.tsx'
import { Section } from '../../components/page.tsx'
import { type PlainColumn, PlainTable } from '../../components/plain-table.tsx'
import { Loaded, RefreshedPage } from '../../components/resource.tsx'
import { VisibleText } from '../../components/text.tsx'
import { Time } from '../../components/time.tsx'
import { formatBytes } from '../../lib/format.ts'
import { LeaseSection, ProcessSection, QueueSection } from './machine-sections.tsx'
import { findProblems } from './problems.ts'

const EVERY_MS = 2_000

/** The processes that share the store of the hub, where each run lives, and what waits for workers. */
export default function MachinesPage() {
  const query = useResource(['cluster'], () => api.cluster(), { everyMs: EVERY_MS })
  return (
    <RefreshedPage title="Machines" description="The processes of this hub, refreshed every 2 s." query={query}>
      {(cluster) => (cluster.self === undefined ? <OneMachine /> : <Machines cluster={cluster} />)}
    </RefreshedPage>
  )
}

function Machines({ cluster }: { cluster: ClusterState }) {
  return (
    <>
      {findProblems(cluster).map(({ tone, title, advice }) => (
        <Note key={title} tone={tone} isLive title={<VisibleText text={title} />}>
          <p>{advice}</p>
        </Note>
      ))}
      <ProcessSection cluster={cluster} />
      <QueueSection cluster={cluster} />
      <LeaseSection cluster={cluster} />
    </>
  )
}

/** A service that shares its store with no other process, and how it could. */
function OneMachine() {
  const query = useResource(['health'], () => api.health(), { everyMs: EVERY_MS })
  const { version } = useMe().server
  return (
    <>
      <Section title="Processes">
        <Loaded query={query}>
          {(health) => (
            <PlainTable
              label="Processes"
              rows={[{ ...health, version }]}
              columns={OWN_COLUMNS}
              rowKey={({ startedAt }) => String(startedAt)}
            />
          )}
        </Loaded>
      </Section>
      <Note tone="info" title="This hub runs on one machine">
        <p>
          Its state is in one file. To run several services and workers as one hub, name the same PostgreSQL database in
          the config of each: <code>store: postgres://…</code>. The guide{' '}
          <code>docs/guides/run-on-many-machines.md</code> starts three services, two workers, PostgreSQL and a load
          balancer. <code>tool-hub store copy</code> copies the present state to the database.
        </p>
      </Note>
    </>
  )
}

const OWN_COLUMNS: readonly PlainColumn<Health & { readonly version: string }>[] = [
  { id: 'process', title: 'Process', isName: true, isWide: true, cell: () => 'this service' },
  {
    id: 'state',
    title: 'State',
    cell: ({ store }) => (store.ok ? <Badge tone="ok">alive</Badge> : <Badge tone="bad">its store fails</Badge>),
  },
  { id: 'calls', title: 'Calls', align: 'end', cell: ({ inFlight }) => inFlight.toLocaleString('en') },
  { id: 'memory', title: 'Memory', align: 'end', cell: ({ memoryBytes }) => formatBytes(memoryBytes) },
  { id: 'address', title: 'Address', cell: () => window.location.host },
  { id: 'version', title: 'Version', cell: ({ version }) => <VisibleText text={version} /> },
  { id: 'started', title: 'Started', align: 'end', cell: ({ startedAt }) => <Time at={startedAt} /> },
]
