import type { Command } from 'commander'
import { type CommandFlags, type CommandKit, ToolError } from '../../core/index.ts'
import { escapeText } from '../../lib/index.ts'
import type { SessionLimits } from './types.ts'

type Flags = CommandFlags & {
  readonly json?: boolean
  readonly runner?: string
  readonly label?: string
  readonly calls?: string
  readonly time?: string
}

/** `sessions spawn`: begins a session and waits for its end. */
export function describeSessionsSpawn(command: Command, kit: CommandKit): void {
  kit
    .addConfigOption(command)
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
    .action((task: string, flags: Flags) => spawn(kit, task, flags))
}

async function spawn(kit: CommandKit, task: string, { runner, label, calls, time, ...flags }: Flags): Promise<void> {
  const limits: SessionLimits = {
    ...(calls !== undefined && { calls: kit.parseCount('--calls', calls) }),
    ...(time !== undefined && { wallMs: kit.parseTime('--time', time) }),
  }
  const wish = { task, runner, limits, by: kit.callerName(), waitMs: Number.MAX_SAFE_INTEGER, ...(label && { label }) }
  const session = await kit.withHub(flags, ({ sessions }) => sessions.spawn(wish))
  const { id, state, reason, result = '' } = session
  if (state === 'failed') throw new ToolError('UPSTREAM_ERROR', `The session ${id} failed: ${reason}`)
  await (flags.json ? kit.printJson(session) : kit.print(escapeText(result)))
}
