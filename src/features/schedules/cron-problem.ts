import { Cron } from 'croner'
import { messageOf } from '../../core/errors.ts'

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
