import {
  type CommandLine,
  type CommandRequest,
  type Context,
  defineTool,
  type RunningCommand,
  ToolError,
} from '@tool-hub/core'
import { z } from 'zod'
import {
  type CommandResult,
  commandResult,
  describeCommand,
  showCommand,
  showShell,
  uncoveredNote,
} from './command-result.ts'

const MAX_MS = 600_000
const FOREGROUND_MS = 60_000
const BACKGROUND_MS = 1_800_000
const MAX_BACKGROUND_MS = 86_400_000
const YIELD_MS = 10_000

const command = z.string().min(1).max(65_536).describe('A command line for bash.')
const cwd = z.string().min(1).max(4_096).optional().describe('The folder to run in. Default: the sandbox root.')
const env = z
  .record(z.string(), z.string())
  .optional()
  .describe('Variables to add to the environment. PATH, LD_* and others that would run other code are refused.')
const timeout = z
  .int()
  .min(0)
  .max(MAX_MS)
  .optional()
  .describe(
    'Milliseconds after which it is ended; 0 is as long as possible. Default: 60000, in the background 1800000.',
  )
const background = z.boolean().optional().describe('Do not wait: return immediately with a sessionId.')
const pty = z.boolean().optional().describe('Give it a terminal, for programs that want one.')
const mergeStderr = z
  .boolean()
  .optional()
  .describe('Write standard error to standard output, so that both come as one, each line in its place.')
const yieldMs = z
  .int()
  .min(10)
  .max(MAX_MS)
  .optional()
  .describe('Wait so many milliseconds, then let it go on in the background.')
const stdin = z.string().max(5_000_000).optional().describe('Text for its standard input.')
/** How programs report a missing network; to a model it looks like a broken network. */
const NO_NETWORK =
  /could not resolve host|EAI_AGAIN|ENOTFOUND|temporary failure in name resolution|network is unreachable|CONNECT tunnel failed/i
/** How git reports that no author is configured; the global settings that it suggests are lost with the sandbox. */
const NO_IDENTITY = /^\*\*\* Please tell me who you are\.|empty ident name/m
const DIALECT_INPUT = { command, cwd, env, timeout, background, pty, yieldMs, stdin }
const ALIASES = { workdir: 'cwd' }

const input = z.strictObject({
  command: command.optional(),
  argv: z.array(z.string()).min(1).max(4_096).optional().describe('The program and its arguments, without a shell.'),
  cwd,
  env,
  stdin,
  timeout,
  yieldMs,
  background,
  pty,
  mergeStderr,
})

/** Runs a command in the sandbox. */
export const execRun = defineTool({
  name: 'core/exec.run',
  title: 'Run a command',
  description:
    'Run a command in the sandbox: a line for bash, or argv without a shell. Use it for builds, tests, git and other ' +
    'programs; a long one can go on in the background. Not for reading, searching and changing files, which have tools of their own.',
  input,
  output: commandResult,
  capabilities: ['exec', 'network', 'send'],
  // Its connections are judged one by one, by the proxy of its sandbox.
  targets: (input) => ({
    exec: { ...lineOf(input), cwd: input.cwd, env: Object.keys(input.env ?? {}), stdin: input.stdin !== undefined },
    network: [],
    send: [],
  }),
  timeoutMs: MAX_MS + 10_000,
  overflow: 'middle',
  category: 'execute',
  tags: ['command', 'shell', 'process'],
  version: '1.0.0',
  examples: [
    { input: { command: 'npm test' } },
    { input: { argv: ['wc', '-l', 'notes.md'] }, note: 'without a shell: words are taken as they are' },
  ],
  dialects: {
    coding: {
      name: 'exec',
      argumentAliases: ALIASES,
      description:
        'Run a shell command in the sandbox. After yieldMs (10 s) it continues in the background with a sessionId: use ' +
        'process to poll it. For files use read, write, edit, grep, find and ls instead.',
      input: z.strictObject({
        ...DIALECT_INPUT,
        command: command.optional(),
        argv: z.array(z.string()).min(1).optional(),
      }),
      toInput: continuing,
      toModel: showCommand,
    },
    shell: {
      name: 'bash',
      argumentAliases: ALIASES,
      description:
        'Run a bash command in the sandbox. After yieldMs (10 s) it continues in the background with a sessionId: use ' +
        'process to poll it.',
      input: z.strictObject(DIALECT_INPUT),
      toInput: continuing,
      toModel: showCommand,
    },
    files: {
      name: 'run_shell',
      description:
        'Run a shell command in the sandbox, for at most 60 s. A command that fails begins with "Exit code: N". Of a long ' +
        'output, both ends are shown: 30,000 characters in all.',
      input: z.strictObject({ command, cwd }),
      toInput: (input) => ({ ...input, mergeStderr: true }),
      toModel: showShell,
    },
  },
  async execute(input, ctx) {
    const running = await ctx.exec.start(requestOf(input))
    const stopTelling = running.onOutput((text, stream) => ctx.progress([{ type: 'text', text, stream }]))
    try {
      if (input.background || !(await running.ended({ withinMs: input.yieldMs, signal: ctx.signal })))
        await running.toBackground()
    } finally {
      stopTelling()
    }
    return conclude(running, timeLimit(input), ctx)
  },
  toModel: showCommand,
})

type Input = z.infer<typeof input>

/** Agents wait for a moment only: what takes longer continues in the background, whatever they call the tool. */
function continuing<T extends { readonly yieldMs?: number; readonly background?: boolean }>({
  yieldMs = YIELD_MS,
  ...rest
}: T) {
  return { ...rest, ...(rest.background ? {} : { yieldMs }) }
}

function lineOf({ command, argv }: Input): CommandLine {
  if (command !== undefined && argv === undefined) return { command }
  if (argv !== undefined && command === undefined) return { argv }
  throw new ToolError('INPUT_SCHEMA_INVALID', 'Invalid arguments for core/exec.run: give either command or argv.', {
    hint: 'command is a line for bash; argv is a program and its arguments, without a shell.',
  })
}

function requestOf(input: Input): CommandRequest {
  const { cwd, env, stdin, pty, mergeStderr, background } = input
  return { ...lineOf(input), cwd, env, stdin, pty, mergeStderr, background, timeoutMs: timeLimit(input) }
}

/** A command that may continue in the background has its own time limit; one that is awaited has that of its call. */
function timeLimit({ timeout, background, yieldMs }: Input): number {
  const canGoOn = background || yieldMs !== undefined
  if (timeout === undefined) return canGoOn ? BACKGROUND_MS : FOREGROUND_MS
  if (timeout > 0) return timeout
  return canGoOn ? MAX_BACKGROUND_MS : MAX_MS
}

async function conclude(running: RunningCommand, timeoutMs: number, ctx: Context<'exec'>): Promise<CommandResult> {
  const result = await describeCommand(running)
  const { status, exitCode, signal, timedOut, sandbox } = result
  const end = status === 'running' ? 'runs on' : timedOut ? 'timed out' : (signal ?? `exit code ${exitCode}`)
  const { command, overuse, uncovered } = running.state()
  ctx.evidence({ type: 'tool', ref: command.slice(0, 200), summary: `${end}, sandbox ${sandbox}` })
  if (status === 'running') return result
  if (overuse) {
    const hint = 'Make it write less, or let it clear up behind it; the owner can raise the limit.'
    throw new ToolError('EXEC_FAILED', overuse.message, { fix: { key: overuse.key, hint }, data: result })
  }
  if (uncovered !== undefined) {
    const hint = 'Run it again: the new file is closed to it then. Look whether the file holds what its owner wrote.'
    throw new ToolError('EXEC_FAILED', uncoveredNote(uncovered), { hint, data: result })
  }
  if (exitCode === 0) return result
  if (NO_NETWORK.test(result.tail))
    ctx.notice(
      'Commands reach only hosts that sandbox.network names and rules allow; docs/reference/commands.md shows how.',
    )
  if (NO_IDENTITY.test(result.tail))
    ctx.notice(
      'git knows no user.name and user.email here. Have the user set them in their own git config, outside of the sandbox; git config --global inside of it is lost with the command.',
    )
  if (timedOut) {
    throw new ToolError('TIMEOUT', `The command did not end within ${timeoutMs} ms and was ended.`, {
      hint: 'Give it more time with timeout, run it in the background, or give it the input that it waits for.',
      retryable: false,
      data: result,
    })
  }
  const how = signal === undefined ? `failed with exit code ${exitCode}` : `was ended by ${signal}`
  throw new ToolError('EXEC_FAILED', `The command ${how}.`, { data: result })
}
