import { randomBytes } from 'node:crypto'
import { type CallPort, type ErrorCode, type FeatureCall, type Rights, ToolError } from '@tool-hub/core'
import { parseAmount, TIME_UNITS } from '@tool-hub/core/lib'
import { Cron } from 'croner'
import type { z } from 'zod'
import { newSchedule, scheduleChange, writtenWhen } from './schema.ts'
import { FROM_CONFIG, type StoredSchedule, type StoredScheduleRun } from './store-types.ts'
import { checkTimeZone, cronOf, invalidSchedule, nextTime, shortestGap, type Timing } from './times.ts'
import type {
  MissedPolicy,
  NewSchedule,
  OverlapPolicy,
  Schedule,
  ScheduleChange,
  ScheduledCall,
  ScheduleRun,
  SchedulesOptions,
  When,
  WrittenWhen,
} from './types.ts'

/** What a schedule does, when, and with which rights: the body of its row. */
export interface Definition extends Timing {
  readonly when: When
  readonly calls: readonly ScheduledCall[]
  readonly continueOnError: boolean
  readonly missed: MissedPolicy
  readonly overlap: OverlapPolicy
  readonly jitterMs: number
  readonly timeoutMs: number
  readonly maxRuns?: number
  /** Captured from the caller who set the calls; checked against the current rights at every run. */
  readonly rights: Rights
  readonly createdBy: Schedule['createdBy']
}

/** A stored schedule with its parsed body. */
export interface KnownSchedule {
  readonly row: StoredSchedule
  readonly definition: Definition
}

/** Parses the body of a row. It is not validated, because only this feature writes it. */
export function toKnown(row: StoredSchedule): KnownSchedule {
  return { row, definition: JSON.parse(row.body) as Definition }
}

/** The public form of a schedule, without its rights. */
export function toView({ row, definition }: KnownSchedule): Schedule {
  const { since: _, until, rights: __, ...shown } = definition
  const { principal, reason, nextAt, lastAt, lastStatus } = row
  return {
    id: row.id,
    name: row.name,
    ...(principal !== '' && { principal }),
    ...shown,
    ...(until !== undefined && { until: new Date(until).toISOString() }),
    enabled: row.state === 'on',
    ...(reason !== undefined && { disabledBecause: reason }),
    isFromConfig: row.name.startsWith(FROM_CONFIG),
    createdAt: row.createdAt,
    ...(nextAt !== undefined && { nextAt }),
    ...(lastAt !== undefined && { lastAt }),
    ...(lastStatus !== undefined && { lastStatus }),
    runs: row.runs,
  }
}

/** The public form of a run, without its lease. */
export function toRunView({ owner: _, leasedUntil: __, ...run }: StoredScheduleRun): ScheduleRun {
  return run
}

/** Errors that a call would fail with at any time; other errors may be gone when the schedule runs. */
const HOPELESS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'TOOL_NOT_FOUND',
  'TOOL_DISABLED',
  'INPUT_SCHEMA_INVALID',
  'POLICY_DENIED',
])

/** Makes a dry run of the calls, so that mistakes are reported now and not when the schedule runs. Throws the first error that would not go away. */
export async function checkCalls(calls: unknown, port: CallPort, run?: string): Promise<void> {
  // Invalid lists of calls are reported when the schedule is parsed.
  const parsed = newSchedule.shape.calls.safeParse(calls)
  for (const [index, { tool, input = {} }] of (parsed.data ?? []).entries()) {
    const { ok, error } = await port.call(tool, input, { dryRun: true, ...(run !== undefined && { run }) })
    if (ok || !HOPELESS.has(error.code)) continue
    throw new ToolError(error.code, `Call ${index + 1} would fail: ${error.message}`, { fix: error.fix })
  }
}

/** The fields of a definition that a caller sets. */
export type DefinitionFields = Omit<Definition, 'since' | 'rights' | 'createdBy'>

const TIMEOUT_MS = 3_600_000
const MIN_MS = 10_000
/** Lower limit of `shortestMs`. */
const FLOOR_MS = 1_000
const MAX_CALL_CHARS = 64_000

/** Validates a new schedule and fills in the defaults. */
export function readNew(
  written: NewSchedule,
  options: SchedulesOptions,
  now: number,
): DefinitionFields & { name: string; enabled: boolean } {
  const { name, ...fields } = checked(newSchedule, written)
  return { name, ...read(fields, options, now) }
}

/** Validates a change and applies it to the previous definition. */
export function readChange(
  written: ScheduleChange,
  { since: _, rights: __, createdBy: ___, ...before }: Definition,
  options: SchedulesOptions,
  now: number,
): DefinitionFields & { enabled?: boolean } {
  const { enabled, until: newUntil, ...fields } = checked(scheduleChange, written)
  const { until, ...rest } = before
  const keptUntil = until === undefined ? undefined : new Date(until).toISOString()
  const whole = { ...rest, ...fields, until: newUntil ?? keptUntil }
  // A one-time schedule whose time has passed can still be disabled or get a new time.
  const said = read(whole, options, fields.when === undefined && 'at' in before.when ? Number.NEGATIVE_INFINITY : now)
  const { enabled: _enabled, ...changed } = said
  return enabled === undefined ? changed : { ...changed, enabled }
}

/** Validates `when` and returns it in the stored form. */
export function readWhen(written: WrittenWhen, timeZone: string): When {
  const when = checked(writtenWhen, written)
  checkTimeZone(timeZone)
  if ('every' in when) return { everyMs: parseInterval(when.every) }
  if ('everyMs' in when) return when
  if ('at' in when) return { at: new Date(timeOf(when.at, timeZone)).toISOString() }
  cronOf(when.cron, timeZone)
  return when
}

/** The time zone of schedules that name none. */
export function ownTimeZone({ timeZone }: SchedulesOptions): string {
  return timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone
}

type Fields = Omit<ScheduleChange, 'when' | 'calls'> & Pick<NewSchedule, 'when' | 'calls'>

function read(fields: Fields, options: SchedulesOptions, now: number): DefinitionFields & { enabled: boolean } {
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
  } satisfies DefinitionFields & { enabled: boolean }
  checkTimes(said, options, now)
  return said
}

function checkTimes(said: DefinitionFields, { shortestMs = MIN_MS }: SchedulesOptions, now: number): void {
  const { when, until, jitterMs } = said
  const timing = { ...said, since: now }
  if (nextTime(timing, now) === undefined) {
    if ('at' in when) throw invalidSchedule(`${when.at} is in the past, or after until.`, 'Give a future time.')
    const end = until === undefined ? '' : ` before ${new Date(until).toISOString()}`
    throw invalidSchedule(`It would never run: ${JSON.stringify(when)} has no time${end}.`, 'Give another time.')
  }
  const shortest = Math.max(FLOOR_MS, shortestMs)
  const gap = 'at' in when ? Number.POSITIVE_INFINITY : shortestGap(timing, now, Math.max(shortest, jitterMs + 1))
  if (gap < shortest)
    throw invalidSchedule(
      `It would run every ${gap} ms; the minimum time between two runs is ${shortest} ms.`,
      'Give a longer interval, or ask the owner to lower schedules.shortest.',
    )
  if (jitterMs >= gap) throw invalidSchedule(`A jitter of ${jitterMs} ms needs more than ${gap} ms between two runs.`)
}

/** A text without an offset is a local time of the zone. If a clock change skips it, it is an hour later; if it occurs twice, the first counts. */
function timeOf(text: string, timeZone: string): number {
  if (/Z|[+-]\d{2}:\d{2}/.test(text)) return Date.parse(text)
  const local = text.length === 'YYYY-MM-DDTHH:MM'.length ? `${text}:00` : text.slice(0, 'YYYY-MM-DDTHH:MM:SS'.length)
  const time = new Cron(local, { timezone: timeZone, paused: true }).getOnce()
  if (!time) throw invalidSchedule(`${JSON.stringify(text)} is not a time.`, 'Use 2027-01-31T09:00:00.')
  return time.getTime()
}

/** The calls after a round trip through JSON, as they are stored. Throws if they are too long. */
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
    'Move long arguments into a file.',
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

/** The target that rules match for wake-ups, whose names are generated. */
export const WAKE = 'wake'

const MAX_MS = 366 * 86_400_000
const MAX_TEXT = 4_000

/**
 * A wake-up is a one-time schedule that sends a message to the console on behalf of the caller. It does not go to the
 * session, because an idle or ended session reads no messages; the people who run the hub can resume it.
 */
export function toWakeUp(
  { text = 'It is time.', at, inMs }: { readonly text?: string; readonly at?: string; readonly inMs?: number },
  { run }: Pick<FeatureCall, 'run'>,
  now: number,
): NewSchedule {
  if ((at === undefined) === (inMs === undefined)) throw invalidSchedule('wake needs either at or inMs.')
  if (inMs !== undefined && !(inMs >= 1 && inMs <= MAX_MS))
    throw invalidSchedule(`inMs is ${inMs}; it must be 1 to ${MAX_MS}.`)
  if (text.length > MAX_TEXT) throw invalidSchedule(`The text has ${text.length} characters, the limit is ${MAX_TEXT}.`)
  const title = `Wake-up of ${run}`
  return {
    name: `wake-${now.toString(36)}-${randomBytes(3).toString('hex')}`,
    when: { at: at ?? new Date(now + inMs!).toISOString() },
    calls: [{ tool: 'core/message.send', input: { channel: 'console', title, text } }],
  }
}
