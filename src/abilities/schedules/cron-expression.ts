import { Cron } from 'croner'
import { LRUCache } from 'lru-cache'
import { messageOf } from '../../errors.ts'
import { invalidSchedule } from './invalid-schedule.ts'

const FIELDS = ['second', 'minute', 'hour', 'day of month', 'month', 'day of week'] as const
const MODE = '5-or-6-parts'
const HINT =
  'Five fields: minute hour day-of-month month day-of-week, with one for seconds before them if need be: "0 9 * * 1-5" is 9:00 on weekdays. Also @hourly, @daily, @weekly, @monthly, @yearly.'
/** Expressions come from models; what is parsed is kept while it is used. */
const parsed = new LRUCache<string, Cron>({ max: 2_000 })

/** An expression that can be asked for its times; INPUT_SCHEMA_INVALID says where it is wrong. */
export function cronOf(expression: string, timeZone: string): Cron {
  const key = `${timeZone}\n${expression}`
  const known = parsed.get(key)
  if (known) return known
  // What is no time of an expression but a date is a mistake here: that is `at`.
  if (/^\s*\d{4}-\d{2}/.test(expression))
    throw invalidSchedule(`${JSON.stringify(expression)} is a date, not a cron expression.`, 'Give it as at.')
  try {
    const cron = new Cron(expression, { timezone: timeZone, paused: true, mode: MODE })
    parsed.set(key, cron)
    return cron
  } catch (error) {
    throw invalidSchedule(`cron ${JSON.stringify(expression)}: ${whatIsWrong(expression, messageOf(error))}`, HINT)
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
    new Cron(expression, { paused: true, mode: MODE })
    return true
  } catch {
    return false
  }
}
