import type { Runner, SessionsOptions } from '../../contracts/sessions.ts'
import { ToolError } from '../../errors.ts'

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,31}$/
const DEEPEST = 10
const MOST_RUNNING = 256

/** Refuses options that no session could begin with, when sessions are first used. */
export function checkSessionsOptions({ runners = {}, maxDepth, maxRunning }: SessionsOptions): void {
  assertWithin('maxDepth', maxDepth, DEEPEST)
  assertWithin('maxRunning', maxRunning, MOST_RUNNING)
  for (const [name, runner] of Object.entries(runners)) {
    const problem = NAME.test(name)
      ? problemOf(runner)
      : 'a name has letters, digits, _ and -, at most 32, a letter first'
    if (problem === undefined) continue
    throw new ToolError(
      'CONFIG_INVALID',
      `The runner ${JSON.stringify(name.slice(0, 60))} cannot be used: ${problem}.`,
      {
        fix: { key: 'sessions.runners', hint: 'See docs/sessions.md for what a runner is.' },
      },
    )
  }
}

function problemOf(runner: Runner): string | undefined {
  if (runner.type === 'command') return runner.argv.length > 0 ? undefined : 'argv needs a program'
  if (runner.type !== 'url') return typeof runner.run === 'function' ? undefined : 'run must be a function'
  if (!URL.canParse(runner.url) || !/^https?:$/.test(new URL(runner.url).protocol))
    return 'url must be an address of http or https'
  // A config names a variable for it; one that is not set must not make the service take unsigned turns for ours.
  return runner.secret === '' ? 'its secret is empty; set the environment variable that holds it' : undefined
}

function assertWithin(key: 'maxDepth' | 'maxRunning', value: number | undefined, most: number): void {
  if (value === undefined || (Number.isInteger(value) && value >= 1 && value <= most)) return
  throw new ToolError('CONFIG_INVALID', `sessions.${key} is ${value}; it must be a whole number from 1 to ${most}.`, {
    fix: { key: `sessions.${key}`, hint: `Use a whole number from 1 to ${most}.` },
  })
}
