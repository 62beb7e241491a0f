import { type FeatureChange, type FeatureHost, messageOf, type Rights, ToolError } from '../../core/index.ts'
import { untilAborted } from '../../lib/index.ts'
import { checkCalls, FROM_CONFIG, type KnownSchedule, toRunView, toView } from './definition.ts'
import { ownTimeZone, readWhen } from './read-schedule.ts'
import { refuseFromConfig, type ScheduleRegistry } from './schedule-registry.ts'
import type { ScheduleRunner } from './schedule-runner.ts'
import type { StoredScheduleRun } from './schedule-store.ts'
import { type Ticker, TICKING_SLOT } from './ticker.ts'
import { nextTime } from './times.ts'
import type { ScheduleChange, ScheduleMaker, ScheduleRun, ScheduleService, SchedulesOptions, ScheduleRunPage, ScheduleStatus } from './types.ts'

const MAKER = { rights: { caller: 'config' }, createdBy: { by: 'config', tainted: false } }

/** The parts of the ability. */
export interface ScheduleParts {
  readonly host: FeatureHost
  readonly options: SchedulesOptions
  readonly book: ScheduleRegistry
  readonly runner: ScheduleRunner
  readonly ticker: Ticker
}

const OWNER = 'owner'
const MAX_NEXT = 100

/** What the owner of the hub uses. */
export function createScheduleService({ host, options, book, runner, ticker }: ScheduleParts): ScheduleService {
  let problems: readonly string[] = []
  const record = (change: FeatureChange, { row }: KnownSchedule, { by = OWNER }: ScheduleMaker = {}) =>
    host.recordChange({ by, change, subject: row.name })
  return {
    async start(config = options) {
      problems = await syncEntries(book, config)
      for (const problem of problems) host.warn(problem)
      await ticker.start()
    },
    stop: () => ticker.stop(),
    status: async () => countSchedules(await book.list(), { host, runner, ticker, problems }),
    list: async ({ principal } = {}) => (await book.list(principal)).map(toView),
    find: async (wanted) => toView(await book.findAny(wanted)),
    async add(schedule, maker = {}) {
      const { by = OWNER } = maker
      const rights = await rightsOf(maker, host)
      await checkCalls(schedule?.calls, host.as(rights))
      const added = await book.add(schedule, { rights, createdBy: { by, tainted: false } })
      await record('schedule-saved', added, maker)
      return toView(added)
    },
    async update(wanted, change, maker = {}) {
      const known = await book.findAny(wanted)
      refuseFromConfig(known)
      refuseOthersCalls(known, change, maker)
      await checkCalls(change?.calls, host.as(known.definition.rights))
      const changed = await book.change(known.row.id, change)
      await record('schedule-saved', changed, maker)
      return toView(changed)
    },
    async remove(wanted, maker) {
      const known = await book.findAny(wanted)
      refuseFromConfig(known)
      await book.remove(known.row.id)
      await record('schedule-removed', known, maker)
      return toView(known)
    },
    async run(wanted, { wait = true, signal, ...maker } = {}) {
      const known = await book.findAny(wanted)
      await record('schedule-run', known, maker)
      return runNow(
        { host, runner },
        known,
        wait ? (ended) => (signal ? untilAborted(ended, signal) : ended) : undefined,
      )
    },
    runs: async (wanted, page) => pageOfRuns(host, await book.findAny(wanted), page),
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

/** A run beside the times of a schedule; gives back what is known of it when it has been waited for. */
export async function runNow(
  { host, runner }: Pick<ScheduleParts, 'host' | 'runner'>,
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

/** The run was left out, because one is under way. */
function assertBegun(run: StoredScheduleRun, { row }: KnownSchedule): void {
  if (run.status === 'waiting') return
  throw new ToolError('CONFLICT', `${row.name} is running already.`, {
    hint: 'Wait for its end, or let its overlap be queue or parallel.',
  })
}

/** What a schedule calls, it calls with the rights of whose it is: nobody else puts something in. */
function refuseOthersCalls({ row }: KnownSchedule, change: ScheduleChange, { as }: ScheduleMaker): void {
  if (as === undefined || as.name === row.principal || change?.calls === undefined) return
  throw new ToolError('FORBIDDEN', `${row.name} is not a schedule of ${as.name}, which may not change its calls.`, {
    hint: 'Make one of your own, or ask the owner.',
  })
}

async function rightsOf({ by = OWNER, as }: ScheduleMaker, host: FeatureHost): Promise<Rights> {
  if (as === undefined) return { caller: by }
  const principal = await host.principalNow(as)
  if (principal) return { caller: by, principal }
  throw new ToolError('POLICY_DENIED', `${as.name} may make no calls, so no schedule can make them for it.`, {
    hint: 'Use a token with the scope call.',
  })
}

/**
 * Makes the schedules in the store those of the config: new ones are added, changed ones changed, others removed. Says
 * what cannot be used; the rest goes on. Without entries nobody said anything, so that all stays as it is.
 */
async function syncEntries(
  book: ScheduleRegistry,
  { entries }: Pick<SchedulesOptions, 'entries'>,
): Promise<readonly string[]> {
  if (entries === undefined) return []
  const known = new Map<string, string>()
  for (const { row } of await book.list('')) if (row.name.startsWith(FROM_CONFIG)) known.set(row.name, row.id)
  const problems: string[] = []
  for (const [name, entry] of Object.entries(entries)) {
    const id = known.get(`${FROM_CONFIG}${name}`)
    known.delete(`${FROM_CONFIG}${name}`)
    try {
      if (id === undefined) await book.add({ ...entry, name }, MAKER, FROM_CONFIG)
      // What the entry does not say any more is as if it had never been said.
      else await book.replace(id, { ...entry, name }, MAKER)
    } catch (error) {
      problems.push(`schedules.entries.${name}: ${messageOf(error)}`)
    }
  }
  for (const id of known.values()) await book.remove(id)
  return problems
}

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
