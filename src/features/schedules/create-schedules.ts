import { z } from 'zod'
import { type Feature, type FeatureCall, type FeatureHost, messageOf, ToolError } from '../../core/index.ts'
import { checkTimeZone } from './times.ts'
import { checkCalls, type KnownSchedule, toView } from './definition.ts'
import { countSchedules, isTicking, pageOfRuns } from './schedule-service.ts'
import { type Maker, refuseFromConfig, ScheduleRegistry } from './schedule-registry.ts'
import { ScheduleRunner } from './schedule-runner.ts'
import { createScheduleService, runNow, type ScheduleParts } from './schedule-service.ts'
import { Ticker } from './ticker.ts'
import type { Schedule, ScheduleHandle, ScheduleService, SchedulesOptions } from './types.ts'
import { toWakeUp, WAKE } from './wake-up.ts'

/** How long a call waits for the end of a run that it began. */
const RUN_WAIT_MS = 50_000

const optionsSchema = z.strictObject({
  entries: z.record(z.string(), z.unknown()).optional(),
  timeZone: z.string().optional(),
  most: z.int().min(0).optional(),
  shortestMs: z.int().min(1_000).optional(),
  parallel: z.int().min(1).max(256).optional(),
  keep: z.int().min(1).max(10_000).optional(),
})

/** Calls that are made later. Nothing fires until the owner says `start`. */
export function createSchedules(
  options: SchedulesOptions,
  host: FeatureHost,
): Feature<ScheduleHandle, ScheduleService> {
  checkSchedulesOptions(options)
  const book = new ScheduleRegistry(host, options)
  const runner = new ScheduleRunner(host, book, options)
  const ticker = new Ticker(host, runner)
  const parts = { host, options, book, runner, ticker }
  return {
    handle: (call) => createScheduleHandle(parts, call),
    service: createScheduleService(parts),
    calm() {
      // The slot that says that somebody fires runs out by itself, should the store not take it back.
      ticker.close().catch(() => {})
      runner.calm()
    },
    async close() {
      await ticker.close()
      await runner.close()
    },
  }
}

/** Refuses options that would mean nothing; what is in the entries is told one by one when they are started. */
export function checkSchedulesOptions(options: SchedulesOptions): void {
  const { success, error } = optionsSchema.safeParse(options)
  const [issue] = error?.issues ?? []
  if (!success) throw invalid(`${['schedules', ...(issue?.path ?? [])].join('.')}: ${issue?.message}`)
  if (options.timeZone === undefined) return
  try {
    checkTimeZone(options.timeZone)
  } catch (cause) {
    throw invalid(`schedules.timeZone: ${messageOf(cause)}`)
  }
}

function invalid(message: string): ToolError {
  return new ToolError('CONFIG_INVALID', message, { hint: 'docs/reference/schedules.md shows what there is.' })
}

/** What one call may do with the schedules of its principal. */
function createScheduleHandle(parts: ScheduleParts, call: FeatureCall): ScheduleHandle {
  const { host, book, runner, ticker } = parts
  const principal = call.principal ?? ''
  /** What is told to a model may have come from one that had read something from outside. */
  const shown = (known: KnownSchedule): Schedule => {
    if (known.definition.createdBy.tainted) call.markUntrusted()
    return toView(known)
  }
  const saved = async (known: KnownSchedule) => {
    if (!ticker.isOn && !(await isTicking(host, runner.owner)))
      call.notice('Nothing runs schedules now: tool-hub serve, tool-hub cron start or hub.schedules.start() does.')
    return shown(known)
  }
  return {
    status: async () => countSchedules(await book.list(principal), { host, runner, ticker, problems: [] }),
    list: async () => (await book.list(principal)).map(shown),
    find: async (name) => shown(await book.findOwn(principal, name)),
    async add(schedule) {
      call.permits('schedule', schedule.name)
      await checkCalls(schedule.calls, host.as(call.rights), call.run)
      await call.beforeEffect()
      return saved(await book.add(schedule, makerOf(call)))
    },
    async update(name, change) {
      call.permits('schedule', name)
      const known = await book.findOwn(principal, name)
      refuseFromConfig(known)
      await checkCalls(change.calls, host.as(call.rights), call.run)
      await call.beforeEffect()
      return saved(await book.change(known.row.id, change, makerOf(call)))
    },
    async remove(name) {
      call.permits('schedule', name)
      const known = await book.findOwn(principal, name)
      refuseFromConfig(known)
      await call.beforeEffect()
      await book.remove(known.row.id)
      return shown(known)
    },
    async run(name) {
      call.permits('schedule', name)
      const known = await book.findOwn(principal, name)
      if (runner.isOwnRun(call.run))
        throw new ToolError('CONFLICT', 'A schedule does not run schedules.', {
          hint: 'Put the calls into its own list.',
        })
      await call.beforeEffect()
      const run = await runNow(parts, known, (ended) => waitFor(ended, parts, call))
      if (run.untrusted) call.markUntrusted()
      return run
    },
    async runs(name, page) {
      const found = await pageOfRuns(host, await book.findOwn(principal, name), page)
      if (found.runs.some(({ untrusted }) => untrusted)) call.markUntrusted()
      return found
    },
    async wake(wish) {
      call.permits('schedule', WAKE)
      const schedule = toWakeUp(wish, call, host.clock.now())
      await checkCalls(schedule.calls, host.as(call.rights), call.run)
      await call.beforeEffect()
      return saved(await book.add(schedule, makerOf(call)))
    },
  }
}

function makerOf({ callId, run, caller, principal, rights, isTainted }: FeatureCall): Maker {
  return { rights, createdBy: { by: principal ?? caller, callId, run, tainted: isTainted } }
}

/** Until it is over, the call is stopped, or it has taken too long: then it goes on without this call. */
function waitFor(ended: Promise<unknown>, { host }: ScheduleParts, call: FeatureCall): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = host.clock.after(RUN_WAIT_MS, () => resolve(), { background: true })
    const stopListening = call.onStop(() => resolve())
    const over = () => {
      cancel()
      stopListening()
    }
    ended.then(() => resolve(), reject).finally(over)
  })
}
