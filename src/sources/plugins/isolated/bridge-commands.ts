import { z } from 'zod'
import {
  type BaseContext,
  type CommandRequest,
  type Context,
  type RunningCommand,
  ToolError,
} from '../../../core/index.ts'
import type { CapabilityUse } from './call-bridge.ts'

const MAX_COMMANDS = 100
const MAX_WAIT_MS = 600_000

const text = z.string().max(1_000_000)
const request = z.strictObject({
  argv: z.array(text).min(1).max(10_000).optional(),
  command: text.optional(),
  cwd: z.string().max(4_096).optional(),
  env: z.record(z.string(), text).optional(),
  stdin: z.string().optional(),
  pty: z.boolean().optional(),
  background: z.boolean().optional(),
  timeoutMs: z.number().min(1),
})
const wait = z.strictObject({ withinMs: z.number().min(0).max(MAX_WAIT_MS).optional() }).default({})
const lines = z.strictObject({ offset: z.int().min(0).optional(), limit: z.int().min(0).optional() }).optional()

/** The commands of a call, when its tool declared them; each answer has what is then known of the command. */
export function useCommands(ctx: BaseContext): [string, CapabilityUse][] {
  if (!('exec' in ctx)) return []
  const { exec } = ctx as Context<'exec'>
  const commands: RunningCommand[] = []
  const use = (work: (command: RunningCommand, given: unknown) => unknown): CapabilityUse => {
    return async ([id, given]) => {
      const command = commands[z.int().min(0).parse(id)]
      if (!command) throw new ToolError('NOT_FOUND', 'There is no such command.')
      const value = await work(command, given)
      return { value, state: command.state(), output: command.output() }
    }
  }
  return [
    [
      'exec.start',
      async ([given]) => {
        const asked = request.parse(given) as CommandRequest
        if (commands.length >= MAX_COMMANDS) throw tooMany()
        const command = await exec.start(asked)
        return { command: commands.push(command) - 1, state: command.state(), output: command.output() }
      },
    ],
    ['exec.ended', use((command, given) => command.ended(wait.parse(given)))],
    ['exec.changed', use((command, given) => command.changed(wait.parse(given)))],
    ['exec.log', use((command, given) => command.log(lines.parse(given)))],
    ['exec.write', use((command, given) => command.write(text.parse(given)))],
    ['exec.closeInput', use((command) => command.closeInput())],
    ['exec.kill', use((command) => command.kill())],
    ['exec.toBackground', use((command) => command.toBackground())],
    ['exec.artifact', use((command) => command.artifact())],
  ]
}

function tooMany(): ToolError {
  return new ToolError('RATE_LIMITED', `A call of an isolated plugin starts at most ${MAX_COMMANDS} commands.`)
}
