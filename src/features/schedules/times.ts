import type { When } from './types.ts'
import { Cron } from 'croner'
import { messageOf, ToolError } from '../../core/index.ts'
import { LRUCache } from 'lru-cache'

/** All that the times of a schedule follow from. */
export interface Timing {
  readonly when: When
  readonly timeZone: string
  /** When it was made: intervals are counted from there. */
  readonly since: number
  /** Milliseconds since 1970. */
  readonly until?: number
}

/** More times than this that passed are not looked at one by one. */
export const MAX_PASSED = 100
const MINUTE_MS = 60_000
/** A day and what the clocks may add to it: what is narrower than that shows within it. */
const LOOK_AHEAD_MS = 25 * 3_600_000

/** The first time after a moment. */
export function nextTime(timing: Timing, after: number): number | undefined {
  const time = nextOf(timing, after)
  return time === undefined || (timing.until !== undefined && time > timing.until) ? undefined : time
}

/** The times from `first`, which is one, up to a moment; the last 100 of them, oldest first. */
export function passedTimes(timing: Timing, first: number, upTo: number): number[] {
  const times = [first]
  for (;;) {
    const next = nextTime(timing, times.at(-1)!)
    if (next === undefined || next > upTo) return times
    if (times.length === MAX_PASSED) return lastTimes(timing, upTo)
    times.push(next)
  }
}

/** The shortest time between two that follow each other, as far as the next day tells, or the next 100. Whether it is `wanted` is all that matters. */
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

/** So that it does not run twice in a minute: five fields, or a plain number before them. */
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

/** Backwards from a moment: after a year away there may be half a million, and nobody wants to count them. */
function lastTimes({ when, timeZone, since, until = upToEver }: Timing, upTo: number): number[] {
  const end = Math.min(upTo, until)
  if ('cron' in when) {
    // The next second is not counted in; the last one is.
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
/** How expressions are read: seconds are optional. */
export const CRON_MODE = '5-or-6-parts'

/** What is wrong with a cron expression, and in which field; `undefined` when nothing is. */
export function cronProblem(expression: string): string | undefined {
  // A date would be accepted as an expression that is due once: that is `at`.
  if (/^\s*\d{4}-\d{2}/.test(expression))
    return `${JSON.stringify(expression)} is a date, not a cron expression. Give it as at.`
  try {
    new Cron(expression, { paused: true, mode: CRON_MODE })
    return undefined
  } catch (error) {
    return `cron ${JSON.stringify(expression)}: ${whatIsWrong(expression, messageOf(error))}`
  }
}

/** Which field it is: each is tried alone, with a star in the place of all others. */
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
  return `field ${wrong + 1} (${names[wrong]}), ${JSON.stringify(field[0])} at character ${field.index + 1}, is not possible: ${reasonOf(said)}`
}

/** Days and months are counted from 0 in what croner says of them, which helps nobody. */
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
  'Five fields: minute hour day-of-month month day-of-week, with one for seconds before them if need be: "0 9 * * 1-5" is 9:00 on weekdays. Also @hourly, @daily, @weekly, @monthly, @yearly.'
/** Expressions come from models; what is parsed is kept while it is used. */
const parsed = new LRUCache<string, Cron>({ max: 2_000 })

/** An expression that can be asked for its times; INPUT_SCHEMA_INVALID says where it is wrong. */
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

/** Refuses a time zone that this machine does not know. */
export function checkTimeZone(timeZone: string): void {
  try {
    new Intl.DateTimeFormat('en', { timeZone })
  } catch {
    throw invalidSchedule(
      `There is no time zone ${JSON.stringify(timeZone)}.`,
      'Use a name such as Europe/Berlin or UTC.',
    )
  }
}

/** What is wrong with what somebody said about a schedule. */
export function invalidSchedule(message: string, hint?: string): ToolError {
  return new ToolError('INPUT_SCHEMA_INVALID', message, hint === undefined ? {} : { hint })
}
