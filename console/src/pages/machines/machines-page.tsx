import { Server } from 'lucide-react'
import { api } from '../../api/session.ts'
import type { ClusterState } from '../../api/types.ts'
import { useResource } from '../../api/use-resource.ts'
import { Note } from '../../components/note.tsx'
import { RefreshedPage } from '../../components/resource.tsx'
import { EmptyState } from '../../components/states.tsx'
import { VisibleText } from '../../components/text.tsx'
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

function OneMachine() {
  return (
    <EmptyState icon={Server} title="This hub runs on one machine">
      Its state is in one file. To run several services and workers as one hub, name the same PostgreSQL database in the
      config of each: <code>store: postgres://…</code>. The guide <code>docs/guides/run-on-many-machines.md</code>{' '}
      starts three services, two workers, PostgreSQL and a load balancer. <code>tool-hub store copy</code> copies the
      present state to the database.
    </EmptyState>
  )
}
