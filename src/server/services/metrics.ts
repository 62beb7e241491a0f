import type { Store } from '../../core/index.ts'
import type { ClusterState, Health } from '../../protocol/index.ts'
import type { RecordedLine } from '../../records/log/index.ts'
import type { ForwardCounts } from '../cluster/index.ts'

const MAX_RULES = 500
const MAX_WAITING = 1_000

/** Counts decisions by rule; further rules are counted together. */
export class DecisionCounts {
  readonly #counts = new Map<string, { readonly rule: string; readonly effect: string; count: number }>()

  readonly note = ({ event }: RecordedLine): void => {
    if (event.type !== 'call-started' && event.type !== 'call-ended') return
    const { rule, effect } = event
    // The end of a call that has started does not repeat the decision.
    if (rule === undefined || effect === undefined) return
    const known = this.#counts.has(`${effect} ${rule}`) || this.#counts.size < MAX_RULES ? rule : 'other'
    const key = `${effect} ${known}`
    const entry = this.#counts.get(key) ?? { rule: known, effect, count: 0 }
    entry.count++
    this.#counts.set(key, entry)
  }

  values(): Sample[] {
    return [...this.#counts.values()].map(({ rule, effect, count }) => ({
      labels: { rule, decision: effect },
      value: count,
    }))
  }
}

/** One value of a metric. */
interface Sample {
  readonly labels?: Readonly<Record<string, string>>
  readonly value: number
}

/** The metrics of the service in addition to those of the hub, in the text format of Prometheus. */
export async function serviceMetrics({
  health,
  decisions,
  store,
  cluster,
  forwarded,
  now,
}: {
  readonly health: Health
  readonly decisions: DecisionCounts
  readonly store: Pick<Store, 'approvals'>
  /** The cluster, if there is one and its store answers. */
  readonly cluster: ClusterState | undefined
  /** What was forwarded to other processes; `undefined` without a cluster. */
  readonly forwarded: ForwardCounts | undefined
  readonly now: number
}): Promise<string> {
  const families = [
    ...(await waitingFamilies(store, now)),
    family('counter', 'tool_hub_decisions_total', 'Decisions of the policy, by rule.', decisions.values()),
    ...budgetFamilies(health.budgets),
    family('gauge', 'tool_hub_store_ok', 'Whether the store works.', [{ value: health.store.ok ? 1 : 0 }]),
    ...(health.disk ? diskFamilies(health.disk) : []),
    ...(cluster ? clusterFamilies(cluster) : []),
    ...(forwarded ? forwardFamilies(forwarded) : []),
    family('gauge', 'tool_hub_config_refused', 'Whether the config file as it is now is refused.', [
      { value: health.config?.problem === undefined ? 0 : 1 },
    ]),
  ]
  return families.join('')
}

async function waitingFamilies(store: Pick<Store, 'approvals'>, now: number): Promise<string[]> {
  const waiting = await Promise.resolve(store.approvals.briefs({ state: 'waiting', limit: MAX_WAITING })).catch(
    () => [],
  )
  const of = (kind: 'approval' | 'question') => waiting.filter((ask) => ask.kind === kind && ask.expiresAt > now)
  const oldest = Math.min(now, ...of('approval').map(({ askedAt }) => askedAt))
  const age = [{ value: (now - oldest) / 1_000 }]
  return [
    family('gauge', 'tool_hub_approvals_pending', 'Calls that wait for an approval.', [
      { value: of('approval').length },
    ]),
    family('gauge', 'tool_hub_approval_oldest_seconds', 'How long the oldest of them waits.', age),
    family('gauge', 'tool_hub_questions_pending', 'Questions of tools that wait for an answer.', [
      { value: of('question').length },
    ]),
  ]
}

function budgetFamilies(budgets: Health['budgets']): string[] {
  const samples = (pick: 'used' | 'limit') =>
    budgets.map((budget) => ({ labels: { account: budget.account, unit: budget.unit }, value: budget[pick] }))
  return [
    family('gauge', 'tool_hub_budget_used', 'What principals have used of their budgets.', samples('used')),
    family('gauge', 'tool_hub_budget_limit', 'Their budgets.', samples('limit')),
  ]
}

function diskFamilies({ storeBytes, recordsBytes, disks }: NonNullable<Health['disk']>): string[] {
  const samples = (pick: 'freeBytes' | 'sizeBytes') =>
    disks.map((disk) => ({ labels: { folder: disk.folder }, value: disk[pick] }))
  const records = recordsBytes === undefined ? [] : [{ value: recordsBytes }]
  return [
    family('gauge', 'tool_hub_store_bytes', 'Size of the store.', [{ value: storeBytes }]),
    family('gauge', 'tool_hub_records_bytes', 'Size of the records of all runs.', records),
    family('gauge', 'tool_hub_disk_free_bytes', 'Room that is left on the disk of a folder.', samples('freeBytes')),
    family('gauge', 'tool_hub_disk_size_bytes', 'Size of the disk of a folder.', samples('sizeBytes')),
  ]
}

const KINDS = ['service', 'worker', 'library'] as const

function clusterFamilies({ self, isCutOff, processes, leases, queues, records }: ClusterState): string[] {
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
    count('cut_off', 'Whether this process has lost the store for so long that it starts nothing.', [
      { value: isCutOff ? 1 : 0 },
    ]),
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
    ...(records ? sharingFamilies(records) : []),
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

function sharingFamilies({ segments, waitingBytes, lagMs }: NonNullable<ClusterState['records']>): string[] {
  return [
    family('counter', 'tool_hub_records_shared_segments_total', 'Segments of records that PostgreSQL has taken.', [
      { value: segments },
    ]),
    family('gauge', 'tool_hub_records_unshared_bytes', 'Bytes of records that PostgreSQL does not have yet.', [
      { value: waitingBytes },
    ]),
    family('gauge', 'tool_hub_records_share_lag_seconds', 'How old the oldest of them is.', [{ value: lagMs / 1_000 }]),
  ]
}

function family(type: 'counter' | 'gauge', name: string, help: string, samples: readonly Sample[]): string {
  const lines = samples.map(({ labels = {}, value }) => `${name}${labelText(labels)} ${value}`)
  return `${[`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines].join('\n')}\n`
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

function escapeLabel(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
