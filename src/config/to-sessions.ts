import type { CommandRunner, Runner, SessionLimits, SessionsOptions, UrlRunner } from '../core/index.ts'
import { resolvePath } from './resolve-path.ts'
import type { WrittenSessions } from './sessions-schema.ts'
import { toFence } from './to-mcp-servers.ts'
import { parseDuration } from './units.ts'
import { withoutUndefined } from './without-undefined.ts'

type Written = NonNullable<WrittenSessions['runners']>[string]

/** What `sessions` says, in the words of `createToolHub`; folders are relative to that of the config. */
export function toSessions({ runners, ...rest }: WrittenSessions, base: string): SessionsOptions {
  const named = runners && Object.entries(runners).map(([name, runner]) => [name, toRunner(runner, base)] as const)
  return withoutUndefined<SessionsOptions>({ ...rest, runners: named && Object.fromEntries(named) })
}

function toRunner({ timeout, limits, ...runner }: Written, base: string): Runner {
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
      cwd: cwd !== undefined || !sandbox ? resolvePath(base, cwd ?? '.') : undefined,
      sandbox: typeof sandbox === 'object' ? toFence(sandbox, base) : sandbox,
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
