import { type FeatureChange, type FeatureHost, messageOf, type Rights, ToolError } from '@tool-hub/core'
import { untilAborted } from '@tool-hub/core/lib'
import { normalName } from '@tool-hub/core/protocol'
import { checkCalls, type KnownSchedule, ownTimeZone, readWhen, toRunView, toView } from './definition.ts'
import { refuseFromConfig, type ScheduleRegistry } from './schedule-registry.ts'
import type { ScheduleRunner } from './schedule-runner.ts'
import { FROM_CONFIG, type StoredScheduleRun } from './store-types.ts'
import { TICKING_SLOT, type Ticker } from './ticker.ts'
import { nextTime } from './times.ts'
import type {
  ScheduleChange,
  ScheduleMaker,
  ScheduleRun,
  ScheduleRunPage,
  ScheduleService,
  ScheduleStatus,
  SchedulesOptions,
} from './types.ts'

const MAKER = { rights: { caller: 'config' }, createdBy: { by: 'config', tainted: false } }

/** The objects that the handle and the service share. */
export interface ScheduleContext {
  readonly host: FeatureHost
  readonly options: SchedulesOptions
  readonly registry: ScheduleRegistry
  readonly runner: ScheduleRunner
  readonly ticker: Ticker
}

const OWNER = 'owner'
const MAX_NEXT = 100

/** What the owner of the hub uses. */
export function createScheduleService({ host, options, registry, runner, ticker }: ScheduleContext): ScheduleService {
  let problems: readonly string[] = []
  const record = (change: FeatureChange, { row }: KnownSchedule, { by = OWNER }: ScheduleMaker = {}) =>
    host.recordChange({ by, change, subject: row.name })
  return {
    async start(config = options) {
      problems = await syncEntries(registry, config)
      for (const problem of problems) host.warn(problem)
      await ticker.start()
    },
    stop: () => ticker.stop(),
    status: async () => countSchedules(await registry.list(), { host, runner, ticker, problems }),
    list: async ({ principal } = {}) => (await registry.list(principal)).map(toView),
    find: async (wanted) => toView(await registry.findAny(wanted)),
    async add(schedule, maker = {}) {
      const { by = OWNER } = maker
      const rights = await rightsOf(maker, host)
      await checkCalls(schedule?.calls, host.as(rights))
      const added = await registry.add(schedule, { rights, createdBy: { by, tainted: false } })
      await record('schedule-saved', added, maker)
      return toView(added)
    },
    async update(wanted, change, maker = {}) {
      const known = await registry.findAny(wanted)
      refuseFromConfig(known)
      refuseOthersCalls(known, change, maker)
      await checkCalls(change?.calls, host.as(known.definition.rights))
      const changed = await registry.change(known.row.id, change)
      await record('schedule-saved', changed, maker)
      return toView(changed)
    },
    async remove(wanted, maker) {
      const known = await registry.findAny(wanted)
      refuseFromConfig(known)
      await registry.remove(known.row.id)
      await record('schedule-removed', known, maker)
      return toView(known)
    },
    async run(wanted, { wait = true, signal, ...maker } = {}) {
      const known = await registry.findAny(wanted)
      await record('schedule-run', known, maker)
      return runNow(
        { host, runner },
        known,
        wait ? (ended) => (signal ? untilAborted(ended, signal) : ended) : undefined,
      )
    },
    runs: async (wanted, page) => pageOfRuns(host, await registry.findAny(wanted), page),
    async next(written, { timeZone = ownTimeZone(options), count = 5 } = {}) {
      const timing = { when: readWhen(written, timeZone), timeZone, since: host.clock.now() }
      const times: number[] = []
      for (let time = nextTime(timing, host.clock.now()); time !== undefined; time = nextTime(timing, time)) {
        times.push(time)
        if (times.length >= Math.min(count, MAX_NEXT)) break
      }
      return { timeZone, times }
    },
    onRun: async (listener) => runner.onRun(listener),
  }
}

/** Starts a run in addition to the scheduled ones. Returns its state, after `wait` if given. Throws `CONFLICT` if the overlap policy skips it. */
export async function runNow(
  { host, runner }: Pick<ScheduleContext, 'host' | 'runner'>,
  known: KnownSchedule,
  wait?: (ended: Promise<unknown>) => Promise<unknown>,
): Promise<ScheduleRun> {
  const wish = runner.newRun(known.row.id, host.clock.now(), 0)
  const run = await host.store.schedules.addRun(wish, runner.overlapOf(known))
  assertBegun(run, known)
  runner.accept([run], { principal: known.row.principal, isManual: true })
  if (wait) await wait(runner.ended(run.id))
  return toRunView((await host.store.schedules.findRun(run.id)) ?? run)
}

/** Throws if the run was skipped because another one is active. */
function assertBegun(run: StoredScheduleRun, { row }: KnownSchedule): void {
  if (run.status === 'waiting') return
  throw new ToolError('CONFLICT', `${row.name} is running already.`, {
    hint: 'Wait for it to end, or set overlap to queue or parallel.',
  })
}

/** Calls run with the rights of the schedule's owner, so nobody else may change them. */
function refuseOthersCalls({ row }: KnownSchedule, change: ScheduleChange, { as }: ScheduleMaker): void {
  if (as === undefined || as.name === row.principal || change?.calls === undefined) return
  throw new ToolError('FORBIDDEN', `${as.name} does not own ${row.name} and may not change its calls.`, {
    hint: 'Create your own schedule, or ask the owner.',
  })
}

async function rightsOf({ by = OWNER, as }: ScheduleMaker, host: FeatureHost): Promise<Rights> {
  if (as === undefined) return { caller: by }
  const principal = await host.principalNow(as)
  if (principal) return { caller: by, principal }
  throw new ToolError('POLICY_DENIED', `${as.name} may not make calls, so it cannot schedule them.`, {
    hint: 'Use a token with the scope call.',
  })
}

/**
 * Adds, updates and removes stored schedules so that they match the entries of the config. Returns the problems of entries
 * that cannot be used. Does nothing if `entries` is absent.
 */
async function syncEntries(
  registry: ScheduleRegistry,
  { entries }: Pick<SchedulesOptions, 'entries'>,
): Promise<readonly string[]> {
  if (entries === undefined) return []
  const known = new Map<string, string>()
  for (const { row } of await registry.list('')) if (row.name.startsWith(FROM_CONFIG)) known.set(row.name, row.id)
  const problems: string[] = []
  for (const [written, entry] of Object.entries(entries)) {
    const name = normalName(written)
    const id = known.get(`${FROM_CONFIG}${name}`)
    known.delete(`${FROM_CONFIG}${name}`)
    try {
      if (id === undefined) await registry.add({ ...entry, name }, MAKER, FROM_CONFIG)
      // Fields that the entry no longer has return to their defaults.
      else await registry.replace(id, { ...entry, name }, MAKER)
    } catch (error) {
      problems.push(`schedules.entries.${name}: ${messageOf(error)}`)
    }
  }
  for (const id of known.values()) await registry.remove(id)
  return problems
}

const PAGE = 20
const MAX_PAGE = 500
const MAX_ACTIVE = 1_000

/** Counts schedules and their active runs. */
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

/** Whether any process on this store runs schedules, in which case it holds the slot. */
export async function isTicking({ store, clock }: FeatureHost, owner: string): Promise<boolean> {
  const now = clock.now()
  return !(await store.slots.lease(TICKING_SLOT, { owner: `${owner} asks`, now, until: now }))
}

/** A page of the runs of a schedule, newest first. */
export async function pageOfRuns(
  { store }: FeatureHost,
  { row }: KnownSchedule,
  { limit = PAGE, before }: { readonly limit?: number; readonly before?: number } = {},
): Promise<ScheduleRunPage> {
  const size = Math.min(Math.max(1, limit), MAX_PAGE)
  const found = await store.schedules.runs({ schedule: row.id, limit: size + 1, before })
  const runs = found.slice(0, size).map(toRunView)
  return { runs, ...(found.length > size && { next: runs.at(-1)!.seq }) }
}
