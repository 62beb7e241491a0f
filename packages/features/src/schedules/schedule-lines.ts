import type { Schedule, ScheduleRun, When } from './types.ts'

/** A schedule as a row of a table. */
export function scheduleRow(schedule: Schedule): string[] {
  const { name, principal = 'owner', when, timeZone, enabled, nextAt, lastAt, lastStatus, calls } = schedule
  const next = nextAt === undefined ? (enabled ? 'no next time' : 'off') : `next ${localTime(nextAt, timeZone)}`
  const last = lastAt === undefined ? 'never run' : `last ${localTime(lastAt, timeZone)} ${lastStatus ?? ''}`.trimEnd()
  const tools = calls.map(({ tool }) => tool).join(', ')
  return [name, principal, whenText(when), timeZone, next, last, schedule.disabledBecause ?? tools]
}

/** A run as a row of a table. */
export function runRow(run: ScheduleRun, timeZone: string): string[] {
  const { dueAt, startedAt, endedAt, status, missed, runId = '', error, summary = '' } = run
  const took = startedAt === undefined || endedAt === undefined ? '' : `${((endedAt - startedAt) / 1000).toFixed(1)} s`
  const left = missed === 0 ? '' : `${missed} missed`
  return [localTime(dueAt, timeZone), status, took, runId, [left, error ?? summary].filter(Boolean).join('  ')]
}

/** The local time in a zone with its offset: `2027-03-28 03:00:00 +02:00`. */
export function localTime(time: number, timeZone: string): string {
  const format = new Intl.DateTimeFormat('en-CA', {
    ...{ timeZone, hourCycle: 'h23', timeZoneName: 'longOffset' },
    ...{ year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit' },
  } as Intl.DateTimeFormatOptions)
  const parts = new Map(format.formatToParts(time).map(({ type, value }) => [type, value]))
  const of = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? ''
  const offset = of('timeZoneName').replace('GMT', '') || '+00:00'
  return `${of('year')}-${of('month')}-${of('day')} ${of('hour')}:${of('minute')}:${of('second')} ${offset}`
}

/** A short text for when a schedule runs. */
export function whenText(when: When): string {
  if ('cron' in when) return when.cron
  return 'at' in when ? `at ${when.at}` : `every ${intervalText(when.everyMs)}`
}

function intervalText(ms: number): string {
  for (const [unit, size] of [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['m', 60_000],
    ['s', 1_000],
  ] as const)
    if (ms % size === 0) return `${ms / size}${unit}`
  return `${ms}ms`
}
