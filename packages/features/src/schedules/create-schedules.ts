import { type Feature, type FeatureCall, type FeatureHost, messageOf, ToolError } from '@tool-hub/core'
import { normalName } from '@tool-hub/core/protocol'
import { z } from 'zod'
import { checkCalls, type KnownSchedule, toView, toWakeUp, WAKE } from './definition.ts'
import { type Maker, refuseFromConfig, ScheduleRegistry } from './schedule-registry.ts'
import { ScheduleRunner } from './schedule-runner.ts'
import {
  countSchedules,
  createScheduleService,
  isTicking,
  pageOfRuns,
  runNow,
  type ScheduleContext,
} from './schedule-service.ts'
import { Ticker } from './ticker.ts'
import { checkTimeZone } from './times.ts'
import type { Schedule, ScheduleHandle, ScheduleService, SchedulesOptions } from './types.ts'

/** How long a call waits for the end of a run that it started. */
const RUN_WAIT_MS = 50_000

const optionsSchema = z.strictObject({
  entries: z.record(z.string(), z.unknown()).optional(),
  timeZone: z.string().optional(),
  most: z.int().min(0).optional(),
  shortestMs: z.int().min(1_000).optional(),
  parallel: z.int().min(1).max(256).optional(),
  keep: z.int().min(1).max(10_000).optional(),
})

/** Creates the feature. No schedule runs before `start()`. */
export function createSchedules(
  options: SchedulesOptions,
  host: FeatureHost,
): Feature<ScheduleHandle, ScheduleService> {
  checkSchedulesOptions(options)
  const registry = new ScheduleRegistry(host, options)
  const runner = new ScheduleRunner(host, registry, options)
  const ticker = new Ticker(host, runner)
  const parts = { host, options, registry, runner, ticker }
  return {
    handle: (call) => createScheduleHandle(parts, call),
    service: createScheduleService(parts),
    calm() {
      // If the slot cannot be released, it expires.
      ticker.close().catch(() => {})
      runner.calm()
    },
    async close() {
      await ticker.close()
      await runner.close()
    },
  }
}

/** Throws `CONFIG_INVALID` for invalid options. Entries are validated one by one by `start()`. */
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
  return new ToolError('CONFIG_INVALID', message, { hint: 'docs/reference/schedules.md lists the options.' })
}

/** The handle of one call, for the schedules of its principal. */
function createScheduleHandle(parts: ScheduleContext, call: FeatureCall): ScheduleHandle {
  const { host, registry, runner, ticker } = parts
  const principal = call.principal ?? ''
  /** A schedule of a tainted creator may contain untrusted content. */
  const shown = (known: KnownSchedule): Schedule => {
    if (known.definition.createdBy.tainted) call.markUntrusted()
    return toView(known)
  }
  const saved = async (known: KnownSchedule) => {
    if (!ticker.isOn && !(await isTicking(host, runner.owner)))
      call.notice('No process runs schedules: start tool-hub serve, tool-hub cron start or hub.schedules.start().')
    return shown(known)
  }
  return {
    status: async () => countSchedules(await registry.list(principal), { host, runner, ticker, problems: [] }),
    list: async () => (await registry.list(principal)).map(shown),
    find: async (name) => shown(await registry.findOwn(principal, name)),
    async add(schedule) {
      call.permits('schedule', normalName(schedule.name))
      await checkCalls(schedule.calls, host.as(call.rights), call.run)
      await call.beforeEffect()
      return saved(await registry.add(schedule, makerOf(call)))
    },
    async update(name, change) {
      call.permits('schedule', normalName(name))
      const known = await registry.findOwn(principal, name)
      refuseFromConfig(known)
      await checkCalls(change.calls, host.as(call.rights), call.run)
      await call.beforeEffect()
      return saved(await registry.change(known.row.id, change, makerOf(call)))
    },
    async remove(name) {
      call.permits('schedule', normalName(name))
      const known = await registry.findOwn(principal, name)
      refuseFromConfig(known)
      await call.beforeEffect()
      await registry.remove(known.row.id)
      return shown(known)
    },
    async run(name) {
      call.permits('schedule', normalName(name))
      const known = await registry.findOwn(principal, name)
      if (runner.isOwnRun(call.run))
        throw new ToolError('CONFLICT', 'A schedule cannot run other schedules.', {
          hint: 'Add the calls to its own list.',
        })
      await call.beforeEffect()
      const run = await runNow(parts, known, (ended) => waitFor(ended, parts, call))
      if (run.untrusted) call.markUntrusted()
      return run
    },
    async runs(name, page) {
      const found = await pageOfRuns(host, await registry.findOwn(principal, name), page)
      if (found.runs.some(({ untrusted }) => untrusted)) call.markUntrusted()
      return found
    },
    async wake(wish) {
      call.permits('schedule', WAKE)
      const schedule = toWakeUp(wish, call, host.clock.now())
      await checkCalls(schedule.calls, host.as(call.rights), call.run)
      await call.beforeEffect()
      return saved(await registry.add(schedule, makerOf(call)))
    },
  }
}

function makerOf({ callId, run, caller, principal, rights, isTainted }: FeatureCall): Maker {
  return { rights, createdBy: { by: principal ?? caller, callId, run, tainted: isTainted } }
}

/** Waits until the run ends, the call is stopped, or the time is up; the run continues in any case. */
function waitFor(ended: Promise<unknown>, { host }: ScheduleContext, call: FeatureCall): Promise<void> {
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
