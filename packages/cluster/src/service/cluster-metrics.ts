import { family, type Sample } from '@tool-hub/core/lib'
import type { ClusterState } from '@tool-hub/core/protocol'
import type { Hub } from '@tool-hub/runtime/hub'
import type { ForwardCounts } from './forwarder.ts'

/** The metrics of a cluster, in the text format of Prometheus; `state` is absent while the store does not answer. */
export function clusterMetrics(state: ClusterState | undefined, forwarded: ForwardCounts): string {
  return [...(state ? clusterFamilies(state) : []), ...forwardFamilies(forwarded)].join('')
}

/** What a process that shares its store says of itself, also while the store does not answer. */
export function memberMetrics({ cluster, sharing }: Pick<Hub, 'cluster' | 'sharing'>): string {
  if (!cluster) return ''
  const gauge = (name: string, help: string, value: number) => family('gauge', `tool_hub_${name}`, help, [{ value }])
  const cutOff = gauge(
    'cluster_cut_off',
    'Whether this process has lost the store for so long that it starts nothing.',
    cluster.isCut ? 1 : 0,
  )
  if (!sharing) return cutOff
  const { segments, waitingBytes, lagMs } = sharing
  const shared = family(
    'counter',
    'tool_hub_records_shared_segments_total',
    'Segments of records that PostgreSQL has taken.',
    [{ value: segments }],
  )
  const unshared = gauge('records_unshared_bytes', 'Bytes of records that PostgreSQL does not have yet.', waitingBytes)
  return [
    cutOff,
    shared,
    unshared,
    gauge('records_share_lag_seconds', 'How old the oldest of them is.', lagMs / 1_000),
  ].join('')
}

const KINDS = ['service', 'worker', 'library'] as const

function clusterFamilies({ self, processes, leases, queues }: ClusterState): string[] {
  const alive = processes.filter(({ isAlive }) => isAlive)
  const byKind = KINDS.map((kind) => ({
    labels: { kind },
    value: alive.filter((each) => each.kind === kind).length,
  }))
  const nameOf = ({ id, kind, host }: ClusterState['processes'][number]) => ({ process: id, kind, host })
  const ofQueue = (value: (queue: ClusterState['queues'][number]) => number) =>
    queues.map((queue) => ({ labels: { labels: queue.labels }, value: value(queue) }))
  const count = (name: string, help: string, samples: readonly Sample[]) =>
    family('gauge', `tool_hub_cluster_${name}`, help, samples)
  return [
    count('processes', 'Processes that share the store and are alive, by kind.', byKind),
    count('processes_silent', 'Processes of the last day that did not end in good order.', [
      { value: processes.length - alive.length },
    ]),
    count('processes_draining', 'Live processes that take no more work.', [
      { value: alive.filter(({ isDraining }) => isDraining).length },
    ]),
    count('processes_with_other_rules', 'Live processes whose rules differ from those of this process.', [
      { value: alive.filter(({ hasOtherRules }) => hasOtherRules).length },
    ]),
    count(
      'heartbeat_age_seconds',
      'How much older the last heartbeat of a process is than the newest of all.',
      processes.map((each) => ({ labels: nameOf(each), value: each.silentMs / 1_000 })),
    ),
    count(
      'calls_running',
      'Calls that a process executes now.',
      alive.map((each) => ({ labels: nameOf(each), value: each.running })),
    ),
    count('worker_concurrency', 'How many calls the live workers execute concurrently.', [
      { value: alive.reduce((sum, { concurrency = 0 }) => sum + concurrency, 0) },
    ]),
    count('leases', 'Runs that are leased, at most 500 counted: by this process and by others.', [
      { labels: { owner: 'self' }, value: leases.filter(({ process }) => process === self).length },
      { labels: { owner: 'other' }, value: leases.filter(({ process }) => process !== self).length },
    ]),
    count(
      'queue_waiting',
      'Calls that wait for a worker, by the labels that it needs.',
      ofQueue((queue) => queue.waiting),
    ),
    count(
      'queue_running',
      'Calls that workers execute, by the labels that they need.',
      ofQueue((queue) => queue.running),
    ),
    count(
      'queue_oldest_seconds',
      'How long the oldest of the waiting calls waits.',
      ofQueue(({ oldestMs = 0 }) => oldestMs / 1_000),
    ),
  ]
}

function forwardFamilies({ answered, failed, totalMs }: ForwardCounts): string[] {
  return [
    family('counter', 'tool_hub_cluster_forwarded_total', 'Requests for other processes, by outcome.', [
      { labels: { outcome: 'answered' }, value: answered },
      { labels: { outcome: 'failed' }, value: failed },
    ]),
    family('counter', 'tool_hub_cluster_forward_seconds_total', 'How long the answered ones took until they began.', [
      { value: totalMs / 1_000 },
    ]),
  ]
}
