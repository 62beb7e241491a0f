import { z } from 'zod'
import { SCHEDULE_RUN_STATUSES, type Schedule, type ScheduleRun, type ScheduleStatus, type When } from '../types.ts'

const status = z.enum(SCHEDULE_RUN_STATUSES)

const schedule = z.strictObject({
  name: z.string(),
  when: z.string().describe('A cron expression, an interval in ms, or one time.'),
  timeZone: z.string(),
  calls: z.array(z.strictObject({ tool: z.string(), input: z.unknown().optional() })),
  enabled: z.boolean(),
  disabledBecause: z.string().optional(),
  missed: z.string(),
  overlap: z.string(),
  nextAt: z.string().optional(),
  lastAt: z.string().optional(),
  lastStatus: status.optional(),
  runs: z.int().min(0),
})

const run = z.strictObject({
  dueAt: z.string(),
  startedAt: z.string().optional(),
  endedAt: z.string().optional(),
  status,
  runId: z.string().optional().describe('The run that its calls are recorded in.'),
  missed: z.int().min(0).describe('Earlier times that were missed.'),
  summary: z.string().optional(),
  error: z.string().optional(),
})

/** The result of core/cron; times are in UTC. */
export const cronResult = z.strictObject({
  action: z.string().describe('The action.'),
  status: z
    .strictObject({
      isTicking: z.boolean(),
      schedules: z.int().min(0),
      enabled: z.int().min(0),
      nextAt: z.string().optional(),
      running: z.int().min(0),
      waiting: z.int().min(0),
    })
    .optional()
    .describe('status: counts of your schedules, and whether anything runs them.'),
  schedules: z.array(schedule).optional().describe('list: your schedules, without the arguments of their calls.'),
  schedule: schedule.optional().describe('The schedule that the action applies to.'),
  run: run.optional().describe('run: the outcome; status running if it has not ended yet.'),
  runs: z.array(run).optional().describe('runs: the runs of the schedule, newest first.'),
  next: z.int().min(0).optional().describe('runs: before of the next page.'),
})

type Result = z.infer<typeof cronResult>

/** A schedule for a model. */
export function toSchedule(known: Schedule): z.infer<typeof schedule> {
  const { name, timeZone, enabled, disabledBecause, missed, overlap, nextAt, lastAt, lastStatus, runs } = known
  return {
    ...{ name, when: textOf(known.when), timeZone, calls: [...known.calls], enabled, missed, overlap, runs },
    ...(disabledBecause !== undefined && { disabledBecause }),
    ...(nextAt !== undefined && { nextAt: isoOf(nextAt) }),
    ...(lastAt !== undefined && { lastAt: isoOf(lastAt) }),
    ...(lastStatus !== undefined && { lastStatus }),
  }
}

/** A schedule for a model, without the arguments of its calls. */
export function toShortSchedule(known: Schedule): z.infer<typeof schedule> {
  return { ...toSchedule(known), calls: known.calls.map(({ tool }) => ({ tool })) }
}

/** A run for a model. */
export function toRun({ dueAt, startedAt, endedAt, status, runId, missed, summary, error }: ScheduleRun) {
  return {
    ...{ dueAt: isoOf(dueAt), status, missed },
    ...(startedAt !== undefined && { startedAt: isoOf(startedAt) }),
    ...(endedAt !== undefined && { endedAt: isoOf(endedAt) }),
    ...(runId !== undefined && { runId }),
    ...(summary !== undefined && { summary }),
    ...(error !== undefined && { error }),
  }
}

/** The status for a model. */
export function toStatus({ isTicking, schedules, enabled, nextAt, running, waiting }: ScheduleStatus) {
  const next = nextAt === undefined ? {} : { nextAt: isoOf(nextAt) }
  return { isTicking, schedules, enabled, ...next, running, waiting }
}

/** The result as text for a model, with hints for the next call. */
export function showCron({ action, status, schedules, schedule, run, runs, next }: Result): string {
  if (status) return showStatus(status)
  if (schedules) {
    if (schedules.length === 0) return 'You have no schedules.'
    return [...schedules.map(line), 'To see the arguments of one, list it by name.'].join('\n')
  }
  if (run) return runLine(run)
  if (runs) {
    const more = next === undefined ? [] : [`[older ones: before=${next}]`]
    return runs.length === 0 ? 'It has not run yet.' : [...runs.map(runLine), ...more].join('\n')
  }
  if (!schedule) return action
  if (action === 'remove') return `Removed ${schedule.name}.`
  return action === 'list' ? `${line(schedule)}\n${JSON.stringify(schedule.calls, undefined, 1)}` : line(schedule)
}

function showStatus({
  isTicking,
  schedules,
  enabled,
  nextAt,
  running,
  waiting,
}: NonNullable<Result['status']>): string {
  const next = nextAt === undefined ? 'none is due' : `the next is due at ${nextAt}`
  const who = isTicking ? '' : ' Nothing runs schedules at the moment.'
  return `${schedules} schedules, ${enabled} enabled; ${running} runs active, ${waiting} waiting; ${next}.${who}`
}

function line({
  name,
  when,
  timeZone,
  calls,
  enabled,
  disabledBecause,
  nextAt,
  lastAt,
  lastStatus,
}: z.infer<typeof schedule>) {
  const next = nextAt === undefined ? (enabled ? 'no next time' : 'off') : `next ${nextAt}`
  const last = lastAt === undefined ? 'never run' : `last ${lastAt}${lastStatus === undefined ? '' : ` ${lastStatus}`}`
  const why = disabledBecause === undefined ? '' : `  (${disabledBecause})`
  return `${name}  ${when} ${timeZone}  ${next}  ${last}  ${calls.map(({ tool }) => tool).join(', ')}${why}`
}

function runLine({ dueAt, status, missed, runId, summary, error }: z.infer<typeof run>): string {
  const left = missed === 0 ? '' : `, ${missed} times missed`
  return [`${dueAt}  ${status}${left}`, runId, error ?? summary].filter((part) => part !== undefined).join('  ')
}

function textOf(when: When): string {
  if ('cron' in when) return when.cron
  return 'at' in when ? when.at : `every ${when.everyMs} ms`
}

function isoOf(time: number): string {
  return new Date(time).toISOString()
}
