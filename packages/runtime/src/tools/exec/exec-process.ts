import {
  actionNeeds,
  type CommandState,
  type Context,
  defineTool,
  type RunningCommand,
  ToolError,
} from '@tool-hub/core'
import { z } from 'zod'
import { commandResult, describeCommand, showCommand } from './command-result.ts'

/** What a terminal sends for named keys. */
const KEYS: ReadonlyMap<string, string> = new Map([
  ['enter', '\r'],
  ['tab', '\t'],
  ['escape', '\x1b'],
  ['space', ' '],
  ['backspace', '\x7f'],
  ['delete', '\x1b[3~'],
  ['up', '\x1b[A'],
  ['down', '\x1b[B'],
  ['right', '\x1b[C'],
  ['left', '\x1b[D'],
  ['home', '\x1b[H'],
  ['end', '\x1b[F'],
  ['pageup', '\x1b[5~'],
  ['pagedown', '\x1b[6~'],
])

/** The bytes of a key: `Enter`, `Up`, `C-c`, `M-x`, or one character. */
function keyBytes(key: string): string {
  const bytes = bytesOf(key)
  if (bytes !== undefined) return bytes
  throw new ToolError('INPUT_SCHEMA_INVALID', `Unknown key ${JSON.stringify(key)}.`, { hint: HINT })
}

/** Whether a key has bytes to send. */
function isKey(key: string): boolean {
  return bytesOf(key) !== undefined
}

/** The message for an unknown key. */
function notAKey(key: string): string {
  return `Unknown key ${JSON.stringify(key)}. ${HINT}`
}

const HINT = `Use one character, C-c for Ctrl and a letter, M-x for Alt, or ${[...KEYS.keys()].join(', ')}.`

function bytesOf(key: string): string | undefined {
  const named = KEYS.get(key.toLowerCase())
  if (named !== undefined) return named
  const control = /^C-([a-z@[\\\]^_])$/i.exec(key)?.[1]
  if (control !== undefined) return String.fromCharCode(control.toUpperCase().charCodeAt(0) & 0x1f)
  const meta = /^M-(.)$/su.exec(key)?.[1]
  if (meta !== undefined) return `\x1b${meta}`
  return [...key].length === 1 ? key : undefined
}

/** What each action of core/exec.process returns. */
const processResult = z.strictObject({
  action: z.string().describe('What was done.'),
  sessionId: z.string().optional().describe('The command it was done to.'),
  sessions: z
    .array(
      z.strictObject({
        sessionId: z.string(),
        command: z.string(),
        status: z.enum(['running', 'exited', 'lost']),
        exitCode: z.int().optional(),
        durationMs: z.number().min(0),
        isWaiting: z.boolean(),
      }),
    )
    .optional()
    .describe('list: the background commands of this run.'),
  removed: z.int().min(0).optional().describe('clear, remove: how many were forgotten.'),
  log: z
    .strictObject({ text: z.string(), from: z.int(), to: z.int(), totalLines: z.int() })
    .optional()
    .describe('log: some lines of the output.'),
  command: commandResult.optional().describe('The command after what was done.'),
})

/** For a model: the requested information, and how to continue. */
function showProcess(result: z.infer<typeof processResult>): string {
  const { action, sessions, removed, log, command } = result
  if (sessions) return sessions.length === 0 ? 'No background commands.' : sessions.map(showSession).join('\n')
  if (log) return `[lines ${log.from} to ${log.to} of ${log.totalLines}]\n${log.text}`
  if (command) return command.status === 'exited' ? `${showCommand(command)}\n[ended]` : showCommand(command)
  return `${action}: ${removed} forgotten.`
}

type Session = NonNullable<z.infer<typeof processResult>['sessions']>[number]

function showSession({ sessionId, command, status, exitCode, durationMs, isWaiting }: Session): string {
  const end = exitCode === undefined ? status : `${status} ${exitCode}`
  const waiting = isWaiting ? ', waits for input' : ''
  return `${sessionId}  ${end}${waiting}  ${(durationMs / 1000).toFixed(1)} s  ${command}`
}

const MAX_POLL_MS = 30_000
const PASTE = { begin: '\x1b[200~', end: '\x1b[201~' }
/** Input makes a program act, as a command does; reading output and stopping do not. */
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

/** Manages commands in the background. */
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
