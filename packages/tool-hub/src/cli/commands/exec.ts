import { existsSync, realpathSync } from 'node:fs'
import { constants } from 'node:os'
import { relative, resolve } from 'node:path'
import { text as readAll } from 'node:stream/consumers'
import type { ContentBlock, HubOptions, ToolResult } from '@tool-hub/core'
import { escapeText } from '@tool-hub/core/lib'
import type { CommandResult } from '@tool-hub/runtime/tools'
import type { Command } from 'commander'
import { exitCodeOfResult, interruptSignal, UsageError } from '../exit.ts'
import { sayPrivate } from '../hub/folders.ts'
import { type HubFlags, withHubHere } from '../hub/with-hub.ts'
import { addCallOptions, addConfigOption, parseTime } from '../input/options.ts'
import { narrate } from '../output/describe-request.ts'
import { wrapText } from '../output/layout.ts'
import { print, printJson, say } from '../output/print.ts'
import { hintOf, sayError } from '../report-error.ts'

interface ExecFlags extends HubFlags {
  readonly command?: string
  readonly cwd?: string
  readonly stdin?: boolean
  readonly timeout?: string
  readonly purpose?: string
  readonly json?: boolean
}

const MAX_MS = 600_000
/** As the timeout program of coreutils ends. */
const TIMED_OUT = 124
const SIGNALLED = 128

const EXAMPLES = `
The command runs under your policy and in the sandbox; tool-hub sandbox explain shows what it could see, write and reach.
Exits with the exit code of the command, or 124 if it timed out, 3 if it was denied, 4 if nobody approved it.

Examples:
  tool-hub exec -- git status
  tool-hub exec --root . -- npm test
  tool-hub exec --command 'git diff | head -20'`

/** `exec`: one command under policy and sandbox. */
export function describeExec(command: Command): void {
  addCallOptions(command)
    .description('Run one command under policy and in the sandbox. Prints its output as it is written.')
    .argument('[words...]', 'The program and its arguments, after --; no shell interprets them')
    .option('--command <line>', 'A command line for bash, instead of words')
    .option('--cwd <dir>', 'Folder to run in. Default: the current folder if it is below the root, else the root')
    .option('--timeout <duration>', 'Time limit, at most 10m. Default: 60s')
    .option('--stdin', 'Pass standard input to the command')
    .option('--purpose <text>', 'Reason for the call; recorded and shown to the approver')
    .addHelpText('after', EXAMPLES)
    .action(exec)
}

async function exec(words: string[], flags: ExecFlags): Promise<void> {
  const asked = {
    ...commandLine(words, flags),
    ...(flags.timeout !== undefined && { timeout: timeLimit(flags.timeout) }),
    ...(flags.stdin && { stdin: await readAll(process.stdin) }),
  }
  await withHubHere(flags, async (hub, options) => {
    const input = { ...asked, ...folderOf(flags, options) }
    sayPrivate(options)
    narrate(hub, options, flags, flags.json ? () => {} : writeLive)
    const { purpose } = flags
    const result = await hub.callDynamic('core/exec.run', input, { purpose, signal: interruptSignal() })
    process.exitCode = exitCodeOf(result)
    if (flags.json) return printJson(result)
    for (const notice of result.meta.notices ?? []) say(`notice: ${escapeText(notice)}`)
    sayEnd(result)
  })
}

function commandLine(
  words: readonly string[],
  { command }: ExecFlags,
): { command: string } | { argv: readonly string[] } {
  if (command !== undefined && words.length > 0)
    throw new UsageError('Give words after --, or --command, not both.', 'tool-hub exec --help shows both.')
  if (command !== undefined) return { command }
  const [first, ...more] = words
  // A line in quotes, as people write it for a shell.
  if (first !== undefined && more.length === 0 && /\s/.test(first) && !existsSync(first))
    throw new UsageError(
      `"${escapeText(first)}" is one word, and no program has this name.`,
      `For a line that bash reads, use --command: tool-hub exec --command 'git diff | head -20'.`,
    )
  if (words.length > 0) return { argv: words }
  throw new UsageError('No command to run.', 'Give it after --: tool-hub exec -- git status.')
}

function timeLimit(text: string): number {
  const timeout = parseTime('--timeout', text)
  if (timeout <= MAX_MS) return timeout
  throw new UsageError(`--timeout is ${text}; a command may take at most 10m.`, 'Give less, or use the library.')
}

/** As in a shell: relative to the current folder, which is also the default where tools may use it. */
function folderOf({ cwd }: ExecFlags, { sandbox }: HubOptions): { readonly cwd?: string } {
  const root = sandbox?.root
  if (root === undefined) return cwd === undefined ? {} : { cwd }
  const wanted = resolve(cwd ?? '.')
  if (!existsSync(wanted) || !existsSync(root)) return cwd === undefined ? {} : { cwd }
  const isOutside = relative(realpathSync(root), realpathSync(wanted)).startsWith('..')
  if (cwd === undefined && isOutside) return {}
  return { cwd: isOutside ? cwd! : realpathSync(wanted) }
}

/** Exact in a pipe, where it is data; harmless on a terminal. */
function writeLive(block: ContentBlock): void {
  if (block.type !== 'text') return
  const out = block.stream === 'stderr' ? process.stderr : process.stdout
  out.write(out.isTTY ? escapeText(block.text) : block.text)
}

function exitCodeOf(result: ToolResult): number {
  if (result.ok) return exitCodeOfResult(result)
  const end = result.data as CommandResult | undefined
  if (end?.timedOut) return TIMED_OUT
  if (end?.signal !== undefined) return SIGNALLED + (constants.signals[end.signal as NodeJS.Signals] ?? 0)
  return end?.exitCode ?? exitCodeOfResult(result)
}

/** The output of a command shows how it failed by itself; what tool-hub did must be printed here. */
function sayEnd(result: ToolResult): void {
  if (result.ok || (result.error.code === 'EXEC_FAILED' && result.data !== undefined)) return
  sayError(`${result.error.code}: ${result.error.message}`, hintOf(result.error))
}

interface ExplainFlags extends HubFlags {
  readonly json?: boolean
}

const EXPLAIN_EXAMPLES = `
Runs nothing except a probe of the sandbox that this machine supports. With a command, its policy decision comes first.

Examples:
  tool-hub sandbox explain
  tool-hub sandbox explain --root . -- npm test
  tool-hub sandbox explain --json`

/** `sandbox explain`: what a command could see, write and reach. */
export function describeSandbox(command: Command): void {
  command.description('Inspect the sandbox that commands run in.')
  addConfigOption(command.command('explain'))
    .description('Show exactly what a command could see, write, reach and use here.')
    .argument('[words...]', 'A command, after --, to show its policy decision too')
    .option('--root <dir>', 'Folder that tools may read and write')
    .addHelpText('after', EXPLAIN_EXAMPLES)
    .action(explainSandbox)
}

async function explainSandbox(words: string[], flags: ExplainFlags): Promise<void> {
  await withHubHere(flags, async (hub) => {
    const verdict = words.length === 0 ? undefined : await hub.explain('core/exec.run', { argv: words })
    const { lines, ...sandbox } = await hub.describeSandbox()
    if (flags.json) return printJson({ ...(verdict && { policy: verdict }), sandbox })
    const told = [...(verdict ? [verdict.text, ''] : []), ...lines]
    await print(wrapText(escapeText(told.join('\n')), 4))
  })
}
