import { z } from 'zod'
import {
  countSchema,
  duration,
  fenceSchema,
  key,
  parseDuration,
  type ResolvePath,
  text,
  toFence,
  withoutUndefined,
} from '../../core/config/index.ts'
import { defineConfig } from '../../core/index.ts'
import type { CommandRunner, Runner, SessionLimits, SessionsOptions, UrlRunner } from './types.ts'

const limits = z.strictObject({
  calls: key(countSchema, 'Most calls of one session.'),
  time: key(duration, 'Most time of its calls, and of its life.'),
  cost: key(z.number().min(0), 'Most cost units of its calls.'),
})

const common = {
  description: key(text, 'What it is good for; agents read it.'),
  tools: key(
    z.array(text).min(1),
    'The only tools that its sessions see, of those that whoever began them sees: names, group:NAME.',
  ),
  limits: key(limits, 'What each of its sessions may use, unless whoever begins it says less.'),
  timeout: key(duration, 'How long one of its sessions may last.', '1h'),
  trust: key(z.boolean(), 'What it says does not count as content from outside.', false),
}

const command = z.strictObject({
  type: z.literal('command').describe('A program.'),
  argv: z.array(text).min(1).describe('The program and its arguments.'),
  cwd: key(text, 'The folder it runs in; that of this config unless said, with sandbox one of its own.'),
  env: key(
    z.record(z.string(), z.string()),
    'Its environment beside PATH, HOME and the like; ${env:NAME} and ${secret:name} are filled in.',
  ),
  sandbox: key(fenceSchema, 'Fences it in like a command.', false),
  speaks: key(
    z.enum(['text', 'jsonl']),
    'text: the task on its input, the result on its output; jsonl: a message a line, with calls of tools.',
    'text',
  ),
  ...common,
})

const url = z.strictObject({
  type: z.literal('url').describe('A service.'),
  url: z.url({ protocol: /^https?$/ }).describe('Where each turn is sent.'),
  secret: key(text, 'Environment variable with the key that signs each turn.'),
  turnTimeout: key(duration, 'How long one turn may take.', '2m'),
  turns: key(z.int().min(1).max(10_000), 'Most turns of one session.', 100),
  ...common,
})

const section = z.strictObject({
  runners: key(
    z.record(
      z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,31}$/, 'letters, digits, _ and -, at most 32, a letter first'),
      z.discriminatedUnion('type', [command, url]),
    ),
    'Who works in the sessions that agents begin, by name; without one no agent begins any.',
  ),
  visibility: key(
    z.enum(['tree', 'principal']),
    'tree: an agent sees what it began and what it came from; principal: also all others of the same principal.',
    'tree',
  ),
  maxDepth: key(z.int().min(1).max(10), 'How many sessions may lie above one.', 5),
  maxRunning: key(z.int().min(1).max(256), 'How many sessions that came from one run go on at once.', 16),
})

/** The section `sessions` of the config file. */
export const sessionsConfig = defineConfig({
  description: 'Agents that agents may start, and what they see of each other; docs/reference/sessions.md.',
  schema: section,
  toOptions: toSessions,
})

type Written = NonNullable<z.output<typeof section>['runners']>[string]

function toSessions({ runners, ...rest }: z.output<typeof section>, resolvePath: ResolvePath): SessionsOptions {
  const named =
    runners && Object.entries(runners).map(([name, runner]) => [name, toRunner(runner, resolvePath)] as const)
  return withoutUndefined<SessionsOptions>({ ...rest, runners: named && Object.fromEntries(named) })
}

function toRunner({ timeout, limits, ...runner }: Written, resolvePath: ResolvePath): Runner {
  const common = {
    timeoutMs: timeout === undefined ? undefined : parseDuration(timeout),
    limits: limits && toLimits(limits),
  }
  if (runner.type === 'command') {
    const { cwd, sandbox, ...rest } = runner
    return withoutUndefined<CommandRunner>({
      ...rest,
      ...common,
      // A fence has a folder of its own; that of the config would have to be opened to it.
      cwd: cwd !== undefined || !sandbox ? resolvePath(cwd ?? '.') : undefined,
      sandbox: typeof sandbox === 'object' ? toFence(sandbox, resolvePath) : sandbox,
    })
  }
  const { secret, turnTimeout, turns, ...rest } = runner
  return withoutUndefined<UrlRunner>({
    ...rest,
    ...common,
    // A variable that is not set signs nothing: that is told when the first session begins.
    secret: secret === undefined ? undefined : (process.env[secret] ?? ''),
    turnTimeoutMs: turnTimeout === undefined ? undefined : parseDuration(turnTimeout),
    maxTurns: turns,
  })
}

function toLimits({ calls, time, cost }: NonNullable<Written['limits']>): SessionLimits {
  return withoutUndefined({ calls, wallMs: time === undefined ? undefined : parseDuration(time), cost })
}
