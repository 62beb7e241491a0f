import type { Command } from 'commander'
import { type SessionLimits, ToolError } from '../../core/index.ts'
import { escapeText } from '../../lib/index.ts'
import { type HubFlags, withHub } from '../hub/with-hub.ts'
import { addConfigOption, parseCount, parseTime } from '../input/options.ts'
import { callerName } from '../invocation.ts'
import { print, printJson } from '../output/print.ts'

type Flags = HubFlags & {
  readonly json?: boolean
  readonly runner?: string
  readonly label?: string
  readonly calls?: string
  readonly time?: string
}

/** `sessions spawn`: begins a session and waits for its end. */
export function describeSessionsSpawn(command: Command): void {
  addConfigOption(command)
    .description('Begin a session with a runner of the config, and wait for its result; it ends with this command.')
    .argument('<task>', 'What is to be done')
    .option('--runner <name>', 'Who works on it', 'default')
    .option('--label <name>', 'A name for it')
    .option('--calls <number>', 'Most calls of tools')
    .option('--time <duration>', 'Most time, e.g. 10m')
    .addHelpText(
      'after',
      '\nExamples:\n  tool-hub sessions spawn "List the open issues about printing." --runner researcher',
    )
    .action(spawn)
}

async function spawn(task: string, { runner, label, calls, time, ...flags }: Flags): Promise<void> {
  const limits: SessionLimits = {
    ...(calls !== undefined && { calls: parseCount('--calls', calls) }),
    ...(time !== undefined && { wallMs: parseTime('--time', time) }),
  }
  const wish = { task, runner, limits, by: callerName(), waitMs: Number.MAX_SAFE_INTEGER, ...(label && { label }) }
  const session = await withHub(flags, ({ sessions }) => sessions.spawn(wish))
  const { id, state, reason, result = '' } = session
  if (state === 'failed') throw new ToolError('UPSTREAM_ERROR', `The session ${id} failed: ${reason}`)
  await (flags.json ? printJson(session) : print(escapeText(result)))
}
