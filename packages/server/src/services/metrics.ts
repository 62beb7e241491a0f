import { lazyModule, type Store } from '@tool-hub/core'
import { family, VERSION } from '@tool-hub/core/lib'
import type { Health } from '@tool-hub/core/protocol'
import type { DecisionCounts } from './counts.ts'

const MAX_WAITING = 1_000

/** The metrics of the service in addition to those of the hub, in the text format of Prometheus. */
export async function serviceMetrics({
  health,
  decisions,
  store,
  now,
}: {
  readonly health: Health
  readonly decisions: DecisionCounts
  readonly store: Pick<Store, 'approvals'>
  readonly now: number
}): Promise<string> {
  const families = [
    ...(await waitingFamilies(store, now)),
    family('counter', 'tool_hub_decisions_total', 'Decisions of the policy, by rule.', decisions.values()),
    ...budgetFamilies(health.budgets),
    family('gauge', 'tool_hub_store_ok', 'Whether the store works.', [{ value: health.store.ok ? 1 : 0 }]),
    ...(health.disk ? diskFamilies(health.disk) : []),
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

const loadPrometheus = lazyModule(() => import('prom-client'))

/** Memory, CPU, descriptors, start and event loop of a process: one for all services in it, because it cannot be stopped. */
let registry: Promise<{ metrics(): Promise<string> }> | undefined

/** What every process of tool-hub reports of itself without asking its store, in the text format of Prometheus. */
export async function processMetrics(store: Pick<Store, 'poolUse'>): Promise<string> {
  registry ??= openRegistry()
  // Without them the other metrics are still there.
  const own = await registry.then((each) => each.metrics()).catch(() => '')
  const labels = { version: VERSION, node: process.versions.node }
  const build = family('gauge', 'tool_hub_build_info', 'The version of tool-hub, and the one of Node.js.', [
    { labels, value: 1 },
  ])
  return [own, build, ...poolFamilies(store)].join('')
}

async function openRegistry() {
  const { Registry, collectDefaultMetrics } = await loadPrometheus()
  const register = new Registry()
  collectDefaultMetrics({ register, eventLoopMonitoringPrecision: 50 })
  return register
}

function poolFamilies(store: Pick<Store, 'poolUse'>): string[] {
  const use = store.poolUse?.()
  if (!use) return []
  const gauge = (name: string, help: string, value: number) =>
    family('gauge', `tool_hub_store_pool_${name}`, help, [{ value }])
  return [
    gauge('size', 'How many connections to PostgreSQL the process may open.', use.max),
    gauge('open', 'Open connections to PostgreSQL.', use.open),
    gauge('idle', 'Open connections that nothing uses.', use.idle),
    gauge('waiting', 'Pieces of work that wait for a connection.', use.waiting),
  ]
}
