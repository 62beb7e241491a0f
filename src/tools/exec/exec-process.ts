import { z } from 'zod'
import type { CommandState, RunningCommand } from '../../core/commands.ts'
import { type Context, defineTool } from '../../core/define.ts'
import { ToolError } from '../../core/errors.ts'
import { actionNeeds } from '../action-needs.ts'
import { describeCommand } from './command-result.ts'
import { isKey, keyBytes, notAKey } from './keys.ts'
import { processResult, showProcess } from './process-result.ts'

const MAX_POLL_MS = 30_000
const PASTE = { begin: '\x1b[200~', end: '\x1b[201~' }
/** Input makes a program do things, as a command does; looking and ending do not. */
const SAYS_SOMETHING: ReadonlySet<string> = new Set(['write', 'send-keys', 'submit', 'paste'])

const fields = z.strictObject({
  action: z
    .enum(['list', 'poll', 'log', 'write', 'send-keys', 'submit', 'paste', 'kill', 'clear', 'remove'])
    .describe('What to do: clear forgets all that have ended, remove one of them.'),
  sessionId: z.string().min(1).max(100).optional().describe('Which command; every action but list and clear needs it.'),
  timeout: z
    .int()
    .min(0)
    .max(MAX_POLL_MS)
    .default(0)
    .describe('poll: wait at most so many milliseconds for news, 30000 at most.'),
  offset: z.int().min(1).optional().describe('log: the first line, 1-based. Default: the last 200 lines.'),
  limit: z.int().min(1).max(2_000).default(200).describe('log: the most lines.'),
  data: z.string().max(1_000_000).optional().describe('write, submit, paste: the text.'),
  keys: z
    .array(
      z
        .string()
        .min(1)
        .max(20)
        .refine(isKey, { error: ({ input }) => notAKey(String(input)) }),
    )
    .max(100)
    .optional()
    .describe('send-keys: such as C-c, Enter, Up, q.'),
  eof: z.boolean().optional().describe('write: close its standard input afterwards.'),
})

const input = fields.superRefine(
  actionNeeds('process', {
    poll: ['sessionId'],
    log: ['sessionId'],
    write: ['sessionId', ['data', 'eof']],
    'send-keys': ['sessionId', 'keys'],
    submit: ['sessionId'],
    paste: ['sessionId', 'data'],
    kill: ['sessionId'],
    remove: ['sessionId'],
  }),
)

type Input = z.infer<typeof input>

/** Looks after commands in the background. */
export const execProcess = defineTool({
  name: 'core/exec.process',
  title: 'Background commands',
  description:
    'Look after commands that run in the background: list them, poll their state and last output, read their log, write to them, press keys, ' +
    'kill them. Use it with the sessionId that core/exec.run gave. Not for starting commands.',
  input,
  output: processResult,
  capabilities: ['exec'],
  targets: ({ action }) => (SAYS_SOMETHING.has(action) ? {} : { exec: [] }),
  timeoutMs: MAX_POLL_MS + 10_000,
  maxOutputChars: 60_000,
  overflow: 'tail',
  category: 'execute',
  tags: ['command', 'process', 'background'],
  version: '1.0.0',
  examples: [
    { input: { action: 'list' } },
    { input: { action: 'poll', sessionId: 'calm-otter-3f2a', timeout: 10_000 }, note: 'waits up to 10 s for news' },
  ],
  dialects: { coding: { name: 'process' } },
  async execute(input, ctx) {
    const { action } = input
    ctx.evidence({ type: 'tool', ref: input.sessionId ?? 'all', summary: `process ${action}` })
    if (action === 'list') return { action, sessions: ctx.exec.list().map(summarise) }
    if (action === 'clear') return { action, removed: clear(ctx) }
    const command = find(input, ctx)
    if (action === 'remove') return { action, removed: remove(command, ctx) }
    if (action === 'log') return { action, sessionId: command.id, log: await readLog(command, input) }
    await act(command, input, ctx)
    return { action, sessionId: command.id, command: await describeCommand(command) }
  },
  toModel: showProcess,
})

async function act(command: RunningCommand, input: Input, ctx: Context<'exec'>): Promise<void> {
  switch (input.action) {
    case 'poll':
      if (input.timeout > 0) await command.changed({ withinMs: input.timeout, signal: ctx.signal })
      return
    case 'kill':
      return command.kill()
    case 'send-keys':
      return command.write(needed(input.keys, 'keys', input).map(keyBytes).join(''))
    case 'submit':
      return command.write(`${input.data ?? ''}\n`)
    case 'paste':
      return command.write(`${PASTE.begin}${needed(input.data, 'data', input)}${PASTE.end}`)
    case 'write':
      if (input.data !== undefined || !input.eof) await command.write(needed(input.data, 'data', input))
      if (input.eof) await command.closeInput()
  }
}

function find({ sessionId, action }: Input, ctx: Context<'exec'>): RunningCommand {
  if (sessionId === undefined)
    throw new ToolError('INPUT_SCHEMA_INVALID', `process ${action} needs a sessionId.`, { hint: known(ctx) })
  const command = ctx.exec.find(sessionId)
  if (command) return command
  const isLost = ctx.exec.list().some(({ id, status }) => id === sessionId && status === 'lost')
  const why = isLost ? 'was lost when its hub ended' : 'is none of this run'
  throw new ToolError('NOT_FOUND', `The session ${JSON.stringify(sessionId)} ${why}.`, { hint: known(ctx) })
}

function known(ctx: Context<'exec'>): string {
  const ids = ctx.exec.list().map(({ id, status }) => `${id} (${status})`)
  return ids.length === 0 ? 'No command is in the background.' : `There are: ${ids.join(', ')}.`
}

function remove({ id }: RunningCommand, ctx: Context<'exec'>): number {
  if (ctx.exec.remove(id)) return 1
  throw new ToolError('CONFLICT', `${id} still runs.`, { hint: 'Kill it first, then remove it.' })
}

function clear(ctx: Context<'exec'>): number {
  const over = ctx.exec.list().filter(({ status }) => status !== 'running')
  return over.filter(({ id }) => ctx.exec.remove(id)).length
}

async function readLog(command: RunningCommand, { offset, limit }: Input) {
  if (offset !== undefined) return command.log({ offset, limit })
  const { totalLines } = await command.log({ offset: 1, limit: 1 })
  return command.log({ offset: Math.max(1, totalLines - limit + 1), limit })
}

function needed<T>(value: T | undefined, name: string, { action }: Input): T {
  if (value !== undefined) return value
  throw new ToolError('INPUT_SCHEMA_INVALID', `process ${action} needs ${name}.`, { hint: `Give ${name}.` })
}

function summarise({ id, command, status, exitCode, durationMs, isWaiting }: CommandState) {
  return { sessionId: id, command, status, ...(exitCode !== undefined && { exitCode }), durationMs, isWaiting }
}
