import { messageOf, ToolError } from '@tool-hub/core'
import { Cron } from 'croner'
import { LRUCache } from 'lru-cache'
import type { When } from './types.ts'

/** The fields that determine the times of a schedule. */
export interface Timing {
  readonly when: When
  readonly timeZone: string
  /** When it was created or its time changed; intervals count from here. */
  readonly since: number
  /** Milliseconds since 1970. */
  readonly until?: number
}

/** Maximum number of past times that are listed. */
export const MAX_PASSED = 100
const MINUTE_MS = 60_000
/** A day plus a clock change: the shortest gap of most expressions occurs within it. */
const LOOK_AHEAD_MS = 25 * 3_600_000

/** The first time after `after`; `undefined` if there is none. */
export function nextTime(timing: Timing, after: number): number | undefined {
  const time = nextOf(timing, after)
  return time === undefined || (timing.until !== undefined && time > timing.until) ? undefined : time
}

/** The times from `first`, which is one of them, to `upTo`: the last 100, oldest first. */
export function passedTimes(timing: Timing, first: number, upTo: number): number[] {
  const times = [first]
  for (;;) {
    const next = nextTime(timing, times.at(-1)!)
    if (next === undefined || next > upTo) return times
    if (times.length === MAX_PASSED) return lastTimes(timing, upTo)
    times.push(next)
  }
}

/** The shortest gap between consecutive times within the next day or the next 100 times. The result is exact only below `wanted`. */
export function shortestGap(timing: Timing, from: number, wanted = Number.POSITIVE_INFINITY): number {
  const { when } = timing
  if ('everyMs' in when) return when.everyMs
  if ('cron' in when && wanted <= MINUTE_MS && hasOneSecond(when.cron)) return MINUTE_MS
  const first = nextTime(timing, from)
  let [shortest, before] = [Number.POSITIVE_INFINITY, first]
  for (let n = 0; n < MAX_PASSED && before !== undefined && before - first! < LOOK_AHEAD_MS; n++) {
    const next = nextTime(timing, before)
    if (next !== undefined) shortest = Math.min(shortest, next - before)
    before = next
  }
  return shortest
}

/** Whether it runs at most once a minute: it has five fields, or a plain number of seconds. */
function hasOneSecond(expression: string): boolean {
  const fields = expression.trim().split(/\s+/)
  return fields.length === 5 || /^\d+$/.test(fields[0]!)
}

function nextOf({ when, timeZone, since }: Timing, after: number): number | undefined {
  if ('cron' in when) return cronOf(when.cron, timeZone).nextRun(new Date(after))?.getTime()
  if ('everyMs' in when) return since + Math.max(1, Math.floor((after - since) / when.everyMs) + 1) * when.everyMs
  const at = Date.parse(when.at)
  return at > after ? at : undefined
}

/** Computed backwards from `upTo`: after a year there can be half a million times. */
function lastTimes({ when, timeZone, since, until = upToEver }: Timing, upTo: number): number[] {
  const end = Math.min(upTo, until)
  if ('cron' in when) {
    // croner excludes the end, in whole seconds.
    const times = cronOf(when.cron, timeZone).previousRuns(MAX_PASSED, new Date(end + 1_000))
    return times
      .map((time) => time.getTime())
      .filter((time) => time <= end)
      .reverse()
  }
  if (!('everyMs' in when)) return []
  const last = Math.floor((end - since) / when.everyMs)
  return Array.from({ length: MAX_PASSED }, (_, n) => since + (last - MAX_PASSED + 1 + n) * when.everyMs)
}

const upToEver = Number.MAX_SAFE_INTEGER

const FIELDS = ['second', 'minute', 'hour', 'day of month', 'month', 'day of week'] as const
/** The field for seconds is optional. */
export const CRON_MODE = '5-or-6-parts'

/** What is wrong with a cron expression, and in which field; `undefined` if it is valid. */
export function cronProblem(expression: string): string | undefined {
  // croner also accepts dates, which belong into `at`.
  if (/^\s*\d{4}-\d{2}/.test(expression))
    return `${JSON.stringify(expression)} is a date, not a cron expression. Give it as at.`
  try {
    new Cron(expression, { paused: true, mode: CRON_MODE })
    return undefined
  } catch (error) {
    return `cron ${JSON.stringify(expression)}: ${whatIsWrong(expression, messageOf(error))}`
  }
}

/** Finds the invalid field by parsing each one with `*` in place of the others. */
function whatIsWrong(expression: string, message: string): string {
  const said = message.replace(/^Cron\w+: /, '')
  const fields = [...expression.matchAll(/\S+/g)]
  if (fields.length !== 5 && fields.length !== 6) return `it has ${fields.length} fields, not 5 or 6.`
  const names = FIELDS.slice(FIELDS.length - fields.length)
  const wrong = fields.findIndex(
    (_, index) => !parses(fields.map(([text], at) => (at === index ? text : '*')).join(' ')),
  )
  const field = fields[wrong]
  if (!field) return said
  return `field ${wrong + 1} (${names[wrong]}), ${JSON.stringify(field[0])} at character ${field.index + 1}, is invalid: ${reasonOf(said)}`
}

/** Replaces croner's range errors, which count days and months from 0. */
function reasonOf(said: string): string {
  return /^Invalid value/.test(said) ? 'the value is out of range.' : said
}

function parses(expression: string): boolean {
  try {
    new Cron(expression, { paused: true, mode: CRON_MODE })
    return true
  } catch {
    return false
  }
}

const HINT =
  'Use five fields: minute hour day-of-month month day-of-week, optionally preceded by seconds: "0 9 * * 1-5" is 9:00 on weekdays. Also valid: @hourly, @daily, @weekly, @monthly, @yearly.'
/** Parsed expressions. Bounded, because models write them. */
const parsed = new LRUCache<string, Cron>({ max: 2_000 })

/** Parses an expression; throws `INPUT_SCHEMA_INVALID` with the invalid field. */
export function cronOf(expression: string, timeZone: string): Cron {
  const key = `${timeZone}\n${expression}`
  const known = parsed.get(key)
  if (known) return known
  const problem = cronProblem(expression)
  if (problem !== undefined) throw invalidSchedule(problem, HINT)
  try {
    const cron = new Cron(expression, { timezone: timeZone, paused: true, mode: CRON_MODE })
    parsed.set(key, cron)
    return cron
  } catch (error) {
    throw invalidSchedule(`cron ${JSON.stringify(expression)}: ${messageOf(error)}`, HINT)
  }
}

/** Throws `INPUT_SCHEMA_INVALID` if this machine does not know the time zone. */
export function checkTimeZone(timeZone: string): void {
  try {
    new Intl.DateTimeFormat('en', { timeZone })
  } catch {
    throw invalidSchedule(`Unknown time zone ${JSON.stringify(timeZone)}.`, 'Use a name such as Europe/Berlin or UTC.')
  }
}

/** The error for an invalid schedule. */
export function invalidSchedule(message: string, hint?: string): ToolError {
  return new ToolError('INPUT_SCHEMA_INVALID', message, hint === undefined ? {} : { hint })
}
