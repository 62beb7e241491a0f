import { Cron } from 'croner'
import { LRUCache } from 'lru-cache'
import { messageOf, ToolError } from '../../core/index.ts'
import { CRON_MODE, cronProblem } from './cron-problem.ts'

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
