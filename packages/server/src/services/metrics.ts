import type { Store } from '@tool-hub/core'
import { family } from '@tool-hub/core/lib'
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
