import type { FeatureHost } from '../../core/index.ts'
import { type KnownSchedule, toRunView } from './definition.ts'
import type { ScheduleRunner } from './schedule-runner.ts'
import { TICKING_SLOT, type Ticker } from './ticker.ts'
import type { ScheduleRunPage, ScheduleStatus } from './types.ts'

const PAGE = 20
const MAX_PAGE = 500
const MAX_ACTIVE = 1_000

/** How these schedules do. */
export async function countSchedules(
  known: readonly KnownSchedule[],
  {
    host,
    runner,
    ticker,
    problems,
  }: { host: FeatureHost; runner: ScheduleRunner; ticker: Ticker; problems: readonly string[] },
): Promise<ScheduleStatus> {
  const own = new Set(known.map(({ row }) => row.id))
  const active = (await host.store.schedules.active(MAX_ACTIVE)).filter(({ schedule }) => own.has(schedule))
  const times = known.flatMap(({ row }) => row.nextAt ?? [])
  return {
    isTicking: ticker.isOn || (await isTicking(host, runner.owner)),
    isTickingHere: ticker.isOn,
    schedules: known.length,
    enabled: known.filter(({ row }) => row.state === 'on').length,
    ...(times.length > 0 && { nextAt: times.reduce((a, b) => Math.min(a, b)) }),
    running: active.filter(({ status }) => status === 'running').length,
    waiting: active.filter(({ status }) => status === 'waiting').length,
    problems,
  }
}

/** Some process with this store fires: it holds the slot, which for nobody else is free. */
export async function isTicking({ store, clock }: FeatureHost, owner: string): Promise<boolean> {
  const now = clock.now()
  return !(await store.slots.lease(TICKING_SLOT, { owner: `${owner} asks`, now, until: now }))
}

/** A page of what became of one. */
export async function pageOfRuns(
  { store }: FeatureHost,
  { row }: KnownSchedule,
  { limit = PAGE, before }: { readonly limit?: number; readonly before?: number } = {},
): Promise<ScheduleRunPage> {
  const size = Math.min(Math.max(1, limit), MAX_PAGE)
  const found = await store.schedules.runs({
    schedule: row.id,
    limit: size + 1,
    ...(before !== undefined && { before }),
  })
  const runs = found.slice(0, size).map(toRunView)
  return { runs, ...(found.length > size && { next: runs.at(-1)!.seq }) }
}
