import { Cron } from 'croner'
import type { z } from 'zod'
import { parseAmount, TIME_UNITS } from '../../lib/index.ts'
import { checkTimeZone, cronOf, invalidSchedule } from './times.ts'
import type { Definition } from './definition.ts'
import { newSchedule, scheduleChange, writtenWhen } from './schema.ts'
import { nextTime, shortestGap } from './times.ts'
import type { NewSchedule, ScheduleChange, SchedulesOptions, When, WrittenWhen } from './types.ts'

/** What of a definition somebody says, as opposed to who it is. */
export type Said = Omit<Definition, 'since' | 'rights' | 'createdBy'>

const TIMEOUT_MS = 3_600_000
const MIN_MS = 10_000
/** No schedule runs more often, whatever the owner says. */
const FLOOR_MS = 1_000
const MAX_CALL_CHARS = 64_000

/** What a new schedule says, checked, with what it leaves open filled in. */
export function readNew(written: NewSchedule, options: SchedulesOptions, now: number): Said & { enabled: boolean } {
  const { name: _, ...fields } = checked(newSchedule, written)
  return read(fields, options, now)
}

/** The same for a change of one that is there. */
export function readChange(
  written: ScheduleChange,
  { since: _, rights: __, createdBy: ___, ...before }: Definition,
  options: SchedulesOptions,
  now: number,
): Said & { enabled?: boolean } {
  const { enabled, until: newUntil, ...fields } = checked(scheduleChange, written)
  const { until, ...rest } = before
  const keptUntil = until === undefined ? undefined : new Date(until).toISOString()
  const whole = { ...rest, ...fields, until: newUntil ?? keptUntil }
  // One that has had its time is not judged by it: it may be switched off, or get a new one.
  const said = read(whole, options, fields.when === undefined && 'at' in before.when ? Number.NEGATIVE_INFINITY : now)
  const { enabled: _enabled, ...changed } = said
  return enabled === undefined ? changed : { ...changed, enabled }
}

/** When, in the form that is kept. */
export function readWhen(written: WrittenWhen, timeZone: string): When {
  const when = checked(writtenWhen, written)
  checkTimeZone(timeZone)
  if ('every' in when) return { everyMs: parseInterval(when.every) }
  if ('everyMs' in when) return when
  if ('at' in when) return { at: new Date(timeOf(when.at, timeZone)).toISOString() }
  cronOf(when.cron, timeZone)
  return when
}

/** The zone of schedules that name none. */
export function ownTimeZone({ timeZone }: SchedulesOptions): string {
  return timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone
}

type Fields = Omit<ScheduleChange, 'when' | 'calls'> & Pick<NewSchedule, 'when' | 'calls'>

function read(fields: Fields, options: SchedulesOptions, now: number): Said & { enabled: boolean } {
  const { timeZone = ownTimeZone(options), until: writtenUntil, maxRuns, jitterMs = 0 } = fields
  const when = readWhen(fields.when, timeZone)
  const until = writtenUntil === undefined ? undefined : timeOf(writtenUntil, timeZone)
  const said = {
    when,
    timeZone,
    calls: boundedCalls(fields.calls),
    continueOnError: fields.continueOnError ?? false,
    missed: fields.missed ?? 'once',
    overlap: fields.overlap ?? 'skip',
    jitterMs,
    timeoutMs: fields.timeoutMs ?? TIMEOUT_MS,
    ...(until !== undefined && { until }),
    ...(maxRuns !== undefined && { maxRuns }),
    enabled: fields.enabled ?? true,
  } satisfies Said & { enabled: boolean }
  checkTimes(said, options, now)
  return said
}

function checkTimes(said: Said, { shortestMs = MIN_MS }: SchedulesOptions, now: number): void {
  const { when, until, jitterMs } = said
  const timing = { ...said, since: now }
  if (nextTime(timing, now) === undefined) {
    if ('at' in when) throw invalidSchedule(`${when.at} has passed, or is after until.`, 'Give a time to come.')
    const end = until === undefined ? '' : ` before ${new Date(until).toISOString()}`
    throw invalidSchedule(`It would never run: ${JSON.stringify(when)} has no time${end}.`, 'Give one that has.')
  }
  const shortest = Math.max(FLOOR_MS, shortestMs)
  const gap = 'at' in when ? Number.POSITIVE_INFINITY : shortestGap(timing, now, Math.max(shortest, jitterMs + 1))
  if (gap < shortest)
    throw invalidSchedule(
      `It would run every ${gap} ms; the shortest time between two runs is ${shortest} ms.`,
      'Give a longer interval, or have the owner lower schedules.shortest.',
    )
  if (jitterMs >= gap) throw invalidSchedule(`A jitter of ${jitterMs} ms needs more than ${gap} ms between two runs.`)
}

/** Without an offset it is a time of the zone; one that the clocks skip is an hour later, one they have twice the first. */
function timeOf(text: string, timeZone: string): number {
  if (/Z|[+-]\d{2}:\d{2}/.test(text)) return Date.parse(text)
  const local = text.length === 'YYYY-MM-DDTHH:MM'.length ? `${text}:00` : text.slice(0, 'YYYY-MM-DDTHH:MM:SS'.length)
  const time = new Cron(local, { timezone: timeZone, paused: true }).getOnce()
  if (!time) throw invalidSchedule(`${JSON.stringify(text)} is not a time.`, 'Use 2027-01-31T09:00:00.')
  return time.getTime()
}

/** As JSON has them: what is kept is what will be called. */
function boundedCalls(calls: Fields['calls']): Definition['calls'] {
  let json: string
  try {
    json = JSON.stringify(calls)
  } catch (cause) {
    throw invalidSchedule(`The calls cannot be written as JSON: ${(cause as Error).message}`)
  }
  if (json.length <= MAX_CALL_CHARS) return JSON.parse(json)
  throw invalidSchedule(
    `The calls have ${json.length} characters, the limit is ${MAX_CALL_CHARS}.`,
    'Put what is long into a file.',
  )
}

function checked<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const { success, data, error } = schema.safeParse(value)
  if (success) return data
  const wrong = error.issues.slice(0, 5).map(({ path, message }) => `${path.join('.') || 'schedule'}: ${message}`)
  throw invalidSchedule(`Not a schedule: ${wrong.join('; ')}`)
}

/** Milliseconds of `90s`, `15m`, `1h`, `1d`. */
function parseInterval(text: string): number {
  const ms = parseAmount(text, TIME_UNITS)
  if (ms !== undefined) return ms
  throw invalidSchedule(`every ${JSON.stringify(text)} is not an interval.`, 'Use 90s, 15m, 1h or 1d.')
}
