import { Hourglass, Unplug } from 'lucide-react'
import { Link } from 'wouter'
import type { ClusterState } from '../../api/types.ts'
import { Badge } from '../../components/badge.tsx'
import { Section } from '../../components/page.tsx'
import { type PlainColumn, PlainTable } from '../../components/plain-table.tsx'
import { VisibleText } from '../../components/text.tsx'
import { Duration, Time } from '../../components/time.tsx'
import styles from './machines.module.css'

type Process = ClusterState['processes'][number]
type Lease = ClusterState['leases'][number]
type Queue = ClusterState['queues'][number]

/** Every process: what it is, where it is, and whether it is alive. */
export function ProcessSection({ cluster: { self, processes } }: { cluster: ClusterState }) {
  const alive = processes.filter(({ isAlive }) => isAlive).length
  const columns: readonly PlainColumn<Process>[] = [
    {
      id: 'host',
      title: 'Machine',
      isName: true,
      isWide: true,
      cell: ({ id, host, pid }) => (
        <>
          <VisibleText text={`${host} (${pid})`} />
          {id === self && <span className={styles.muted}> answers this page</span>}
        </>
      ),
    },
    { id: 'kind', title: 'Kind', cell: ({ kind, labels }) => <KindText kind={kind} labels={labels} /> },
    { id: 'state', title: 'State', cell: (each) => <ProcessState process={each} /> },
    { id: 'calls', title: 'Calls', align: 'end', cell: callsOf },
    {
      id: 'address',
      title: 'Address',
      cell: ({ address }) => (address === undefined ? <span title="none">–</span> : <VisibleText text={address} />),
    },
    { id: 'version', title: 'Version', cell: ({ version }) => <VisibleText text={version} /> },
    { id: 'started', title: 'Started', align: 'end', cell: ({ startedAt }) => <Time at={startedAt} /> },
  ]
  return (
    <Section title="Processes" actions={<span className={styles.about}>{alive} alive</span>}>
      <PlainTable label="Processes" rows={processes} columns={columns} rowKey={({ id }) => id} />
    </Section>
  )
}

function KindText({ kind, labels }: Pick<Process, 'kind' | 'labels'>) {
  if (labels.length === 0) return kind
  return (
    <>
      {kind}: <VisibleText text={labels.join(', ')} />
    </>
  )
}

function callsOf({ running, concurrency, isAlive }: Process): string {
  // What it said last is not true any more.
  if (!isAlive) return '–'
  return concurrency === undefined ? running.toLocaleString('en') : `${running} of ${concurrency}`
}

function ProcessState({ process: { isAlive, isDraining, hasOtherRules, silentMs } }: { process: Process }) {
  if (!isAlive)
    return (
      <Badge tone="bad" icon={Unplug}>
        silent for <Duration ms={silentMs} />
      </Badge>
    )
  return (
    <span className={styles.row}>
      {isDraining ? (
        <Badge tone="warn" icon={Hourglass}>
          draining
        </Badge>
      ) : (
        <Badge tone="ok">alive</Badge>
      )}
      {hasOtherRules && <Badge tone="warn">other rules</Badge>}
    </span>
  )
}

const QUEUE_COLUMNS: readonly PlainColumn<Queue>[] = [
  {
    id: 'labels',
    title: 'Labels',
    isName: true,
    isWide: true,
    cell: ({ labels }) => (labels === '' ? 'any worker' : <VisibleText text={labels} />),
  },
  { id: 'waiting', title: 'Waiting', align: 'end', cell: ({ waiting }) => waiting.toLocaleString('en') },
  { id: 'oldest', title: 'Oldest', align: 'end', cell: ({ oldestMs }) => <Duration ms={oldestMs} /> },
  { id: 'running', title: 'Running', align: 'end', cell: ({ running }) => running.toLocaleString('en') },
]

/** Calls that wait for workers. */
export function QueueSection({ cluster: { queues, processes } }: { cluster: ClusterState }) {
  const hasWorker = processes.some(({ kind, isAlive }) => kind === 'worker' && isAlive)
  return (
    <Section title="Worker queues">
      {queues.length === 0 && (
        <p className={styles.muted}>
          No call waits for a worker or runs on one.
          {!hasWorker && (
            <>
              {' '}
              No worker is alive: start one with <code>tool-hub worker</code>, and send calls to it with{' '}
              <code>runOn</code> in a rule.
            </>
          )}
        </p>
      )}
      {queues.length > 0 && (
        <PlainTable label="Queues" rows={queues} columns={QUEUE_COLUMNS} rowKey={({ labels }) => labels} />
      )}
    </Section>
  )
}

/** Runs that are open, the process in which each lives, and how often it was leased. */
export function LeaseSection({ cluster: { leases, hasMoreLeases, processes } }: { cluster: ClusterState }) {
  const places = new Map(processes.map(({ id, host, pid }) => [id, `${host} (${pid})`]))
  const columns: readonly PlainColumn<Lease>[] = [
    {
      id: 'run',
      title: 'Run',
      isName: true,
      isWide: true,
      cell: ({ run }) => (
        <Link to={`/runs/${encodeURIComponent(run)}`}>
          <VisibleText text={run} />
        </Link>
      ),
    },
    { id: 'process', title: 'Process', cell: ({ process }) => <VisibleText text={places.get(process) ?? process} /> },
    { id: 'principal', title: 'Principal', cell: ({ principal }) => <VisibleText text={principal ?? 'owner'} /> },
    { id: 'epoch', title: 'Leases', align: 'end', cell: ({ epoch }) => epoch.toLocaleString('en') },
    {
      id: 'since',
      title: 'Since',
      align: 'end',
      cell: ({ leasedAt }) => (leasedAt === undefined ? '–' : <Time at={leasedAt} />),
    },
  ]
  return (
    <Section
      title="Open runs"
      actions={hasMoreLeases && <span className={styles.about}>the latest {leases.length}</span>}
    >
      {leases.length === 0 && <p className={styles.muted}>No run is open.</p>}
      {leases.length > 0 && <PlainTable label="Open runs" rows={leases} columns={columns} rowKey={({ run }) => run} />}
    </Section>
  )
}
