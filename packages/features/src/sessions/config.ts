import { defineConfig } from '@tool-hub/core'
import {
  countSchema,
  duration,
  key,
  parseDuration,
  programAccessSchema,
  type ResolvePath,
  text,
  toProgramAccess,
  withoutUndefined,
} from '@tool-hub/core/config'
import { z } from 'zod'
import type { CommandRunner, Runner, SessionLimits, SessionsOptions, UrlRunner } from './runner.ts'

const limits = z.strictObject({
  calls: key(countSchema, 'Maximum number of calls of one session.'),
  time: key(duration, 'Maximum time of its calls, and of the session itself.'),
  cost: key(z.number().min(0), 'Maximum cost units of its calls.'),
})

const common = {
  description: key(text, 'What the runner is good for; agents read it.'),
  tools: key(
    z.array(text).min(1),
    'Limits the tools that its sessions see to these, out of those that their creator sees: names, group:NAME.',
  ),
  limits: key(limits, 'Limits of each of its sessions; the creator of a session may set lower ones.'),
  timeout: key(duration, 'Maximum lifetime of one of its sessions.', '1h'),
  trust: key(z.boolean(), 'Treats its output as trusted content.', false),
}

const command = z.strictObject({
  type: z.literal('command').describe('A program.'),
  argv: z.array(text).min(1).describe('The program and its arguments.'),
  cwd: key(text, 'Working directory. Default: the folder of this config file; with sandbox, a folder of its own.'),
  env: key(
    z.record(z.string(), z.string()),
    'Environment variables in addition to PATH, HOME and the like; ${env:NAME} and ${secret:name} are filled in.',
  ),
  sandbox: key(programAccessSchema, 'Runs it in the sandbox of commands.', false),
  speaks: key(
    z.enum(['text', 'jsonl']),
    'text: the task on standard input, the result on standard output; jsonl: one JSON message per line, with tool calls.',
    'text',
  ),
  ...common,
})

const url = z.strictObject({
  type: z.literal('url').describe('A service.'),
  url: z.url({ protocol: /^https?$/ }).describe('The URL that receives each turn.'),
  secret: key(text, 'Environment variable with the key that signs each request.'),
  turnTimeout: key(duration, 'Maximum time of one turn.', '2m'),
  turns: key(z.int().min(1).max(10_000), 'Maximum number of turns of one session.', 100),
  ...common,
})

const section = z.strictObject({
  runners: key(
    z.record(
      z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,31}$/, 'letters, digits, _ and -, at most 32, a letter first'),
      z.discriminatedUnion('type', [command, url]),
    ),
    'The runners of sessions, by name. Without one, agents cannot start sessions.',
  ),
  visibility: key(
    z.enum(['tree', 'principal']),
    'tree: an agent sees its ancestors and descendants; principal: also all other sessions of the same principal.',
    'tree',
  ),
  maxDepth: key(z.int().min(1).max(10), 'Maximum number of ancestors of a session.', 5),
  maxRunning: key(z.int().min(1).max(256), 'Maximum number of running sessions below one run.', 16),
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
      // A sandboxed runner has a folder of its own; the config folder would have to be opened to it.
      cwd: cwd !== undefined || !sandbox ? resolvePath(cwd ?? '.') : undefined,
      sandbox: typeof sandbox === 'object' ? toProgramAccess(sandbox, resolvePath) : sandbox,
    })
  }
  const { secret, turnTimeout, turns, ...rest } = runner
  return withoutUndefined<UrlRunner>({
    ...rest,
    ...common,
    // A variable that is not set becomes an empty secret, which is refused when the first session starts.
    secret: secret === undefined ? undefined : (process.env[secret] ?? ''),
    turnTimeoutMs: turnTimeout === undefined ? undefined : parseDuration(turnTimeout),
    maxTurns: turns,
  })
}

function toLimits({ calls, time, cost }: NonNullable<Written['limits']>): SessionLimits {
  return withoutUndefined({ calls, wallMs: time === undefined ? undefined : parseDuration(time), cost })
}
