import {
  type BaseContext,
  type CommandRequest,
  type Context,
  type GuardedResponse,
  type RunningCommand,
  ToolError,
} from '@tool-hub/core'
import { z } from 'zod'
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

/**
 * The command methods of a call, if its tool declared `exec`; each answer includes the current state of the command.
 */
export function useCommands(ctx: BaseContext): [string, CapabilityUse][] {
  if (!('exec' in ctx)) return []
  const { exec } = ctx as Context<'exec'>
  const commands: RunningCommand[] = []
  const use = (work: (command: RunningCommand, given: unknown) => unknown): CapabilityUse => {
    return async ([id, given]) => {
      const command = commands[z.int().min(0).parse(id)]
      if (!command) throw new ToolError('NOT_FOUND', 'Command not found.')
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

const MAX_BYTES = 7_000_000
const MAX_RESPONSES = 200

const number = z.number().min(0).optional()
// Streams stay in the hub: answers cross the bridge whole.
const fetchOptions = z
  .strictObject({
    method: z.string().max(20).optional(),
    headers: z.record(z.string().max(200), z.string().max(20_000)).optional(),
    body: z.string().optional(),
    maxBytes: z.int().min(1).optional(),
    timeoutMs: number,
    overflow: z.enum(['fail', 'cut']).optional(),
    retries: number,
    maxAgeMs: number,
  })
  .default({})
const readableOptions = z.strictObject({ as: z.enum(['markdown', 'text']).optional() }).optional()

/** The network methods of a call, if its tool declared `network`. */
export function useFetch(ctx: BaseContext): [string, CapabilityUse][] {
  if (!('fetch' in ctx)) return []
  const { fetch } = ctx as Context<'network'>
  const responses: GuardedResponse[] = []
  const find = (given: unknown): GuardedResponse => {
    const response = responses[z.int().min(0).parse(given)]
    if (response) return response
    throw new ToolError('NOT_FOUND', 'Response not found.')
  }
  return [
    [
      'fetch',
      async ([url, given]) => {
        const { maxBytes = MAX_BYTES, ...options } = fetchOptions.parse(given)
        if (responses.length >= MAX_RESPONSES) throw tooManyResponses()
        const response = await fetch(z.string().parse(url), { ...options, maxBytes: Math.min(maxBytes, MAX_BYTES) })
        const { status, headers, url: from, isCut, isCached } = response
        return { response: responses.push(response) - 1, status, headers, url: from, isCut, isCached }
      },
    ],
    ['fetch.bytes', async ([id]) => ({ base64: Buffer.from(await find(id).bytes()).toString('base64') })],
    ['fetch.text', ([id]) => find(id).text()],
    ['fetch.readable', ([id, options]) => find(id).readable(readableOptions.parse(options))],
  ]
}

function tooManyResponses(): ToolError {
  return new ToolError('RATE_LIMITED', `A call of an isolated plugin makes at most ${MAX_RESPONSES} requests.`)
}
