import { relative, resolve } from 'node:path'
import {
  type ContentBlock,
  type Failure,
  type HubOptions,
  type JsonLine,
  ToolError,
  type ToolResult,
  textOfBlock,
  withoutNoticeLines,
} from '@tool-hub/core'
import { escapeText } from '@tool-hub/core/lib'
import type { Hub } from '@tool-hub/runtime/hub'
import type { Command } from 'commander'
import { exitCodeOfResult, interruptSignal, worstExitCode } from '../exit.ts'
import { sayPrivate, whyPrivate } from '../hub/folders.ts'
import { type HubFlags, withHubHere } from '../hub/with-hub.ts'
import { inOrder, readJsonLines } from '../input/json-lines.ts'
import { addCallOptions, parseTime } from '../input/options.ts'
import { readToolArguments } from '../input/read-arguments.ts'
import { narrate } from '../output/describe-request.ts'
import { print, printJson, printJsonLine, readerGone, say } from '../output/print.ts'
import { hintOf, sayError } from '../report-error.ts'

interface CallFlags extends HubFlags {
  readonly dryRun?: boolean
  readonly timeout?: string
  readonly purpose?: string
  readonly json?: boolean
}

const EXAMPLES = `
Give the arguments of the tool as one JSON text, as - for JSON on stdin, or as flags that its schema names and types.
A flag of the tool that is also an option of this command goes after --.

Examples:
  tool-hub call core/util.time.now
  tool-hub call core/util.time.now --timezone Europe/Berlin
  tool-hub call core/util.hash.sha256Text '{"text":"hello"}' --json
  echo '{"text":"hello"}' | tool-hub call core/util.hash.sha256Text -
  tool-hub call core/util.text.truncate --text "a long text" --max-chars 6 --dry-run
  tool-hub call core/util.json.select --path a -- --json '{"a":1}'`

/** `call`: one tool, once. */
export function describeCall(command: Command): void {
  addCallOptions(command)
    .description('Call a tool. Prints the text for the model, or with --json the whole result.')
    .argument('<tool>', 'Name of the tool, canonical or in a dialect')
    .argument('[arguments...]', "'{json}', or -, or --name value …")
    .allowUnknownOption()
    .option('--dry-run', 'Show what would happen, without doing it')
    .option('--timeout <duration>', "Time limit, if shorter than the tool's own, e.g. 10s")
    .option('--purpose <text>', 'Reason for the call; recorded and shown to the approver')
    .addHelpText('after', EXAMPLES)
    .action(call)
}

async function call(tool: string, words: string[], flags: CallFlags): Promise<void> {
  const timeoutMs = flags.timeout === undefined ? undefined : parseTime('--timeout', flags.timeout)
  await withHubHere(flags, async (hub, options) => {
    narrate(hub, options, flags)
    const input = await readToolArguments(hub, { tool, words, flags })
    const { dryRun, purpose } = flags
    const result = await hub.callDynamic(tool, input, { dryRun, purpose, timeoutMs, signal: interruptSignal() })
    if (!result.meta.dryRun) sayWorkspace(hub, options, result)
    process.exitCode = exitCodeOfResult(result)
    await (flags.json ? printJson(result) : printResult(result, timeoutMs))
  })
}

/** Paths are relative to the root: where that is not where the person stands, it is said. */
function sayWorkspace(hub: Hub, options: HubOptions, { tool }: ToolResult): void {
  const listed = hub.list().find(({ name }) => name === tool)
  const touchesFiles = listed?.capabilities.some((name) => name === 'read:fs' || name === 'write:fs')
  const folder = touchesFiles ? filesOf(hub, options) : undefined
  if (folder !== undefined) say(`files: ${escapeText(folder)}${whyPrivate(options)}`)
}

/** Without a root of the owner's, files are where nobody would look; with one, it may be above. */
function filesOf({ run }: Hub, { sandbox, runs = 'runs' }: HubOptions): string | undefined {
  if (sandbox?.root !== undefined) {
    const up = relative('.', sandbox.root)
    return /^\.\.(\/\.\.)*$/.test(up) ? up : undefined
  }
  const below = sandbox?.workspaces ?? runs
  return below === false ? undefined : relative('.', resolve(below, run, 'workspace'))
}

async function printResult(result: ToolResult, timeoutMs: number | undefined): Promise<void> {
  for (const notice of result.meta.notices ?? []) say(`notice: ${escapeText(notice)}`)
  // What a dry run found out is its answer, and no failure.
  if (result.meta.dryRun && result.error?.code === 'APPROVAL_UNAVAILABLE')
    return print(escapeText(result.error.message))
  if (!result.ok) {
    const { error } = result
    const isOurs = error.code === 'TIMEOUT' && error.message.includes(` ${timeoutMs} ms`)
    return sayError(
      `${error.code}: ${error.message}`,
      isOurs ? 'Ask for less, or give a longer --timeout.' : hintOf(error),
    )
  }
  const text = withoutNoticeLines(result).map(asText).join('\n')
  // Exact in a pipe, where it is data; harmless on a terminal.
  await print(process.stdout.isTTY ? escapeText(text) : text)
}

function asText(block: ContentBlock): string {
  return 'data' in block && block.data !== undefined
    ? `[${block.mediaType ?? block.type}, ${block.data.length} characters of base64; see --json]`
    : textOfBlock(block)
}

interface Answer {
  readonly id: unknown
  readonly result: ToolResult
}

const CONCURRENCY = 8

const BATCH_EXAMPLES = `
A line is {"id": …, "tool": "…", "input": {…}}; an answer is the result of the call, with the id first.
Up to ${CONCURRENCY} calls run concurrently on one hub; answers keep the order of the lines. A line that cannot be read gets an answer too.
Exit code: 0 if every call succeeded, else the most serious: 1 (failed), 2 (no such tool), 4 (approval needed), 3 (denied).

Examples:
  tool-hub batch calls.jsonl > results.jsonl
  echo '{"id":1,"tool":"core/util.time.now","input":{}}' | tool-hub batch -`

/** `batch`: many calls on one hub. */
export function describeBatch(command: Command): void {
  addCallOptions(command)
    .description('Call a tool for each line of a file. Prints one result per line, in order.')
    .argument('<file>', 'A file of JSON lines, or - for stdin')
    .addHelpText('after', BATCH_EXAMPLES)
    .action(batch)
}

async function batch(file: string, flags: HubFlags): Promise<void> {
  const signal = AbortSignal.any([interruptSignal(), readerGone])
  const codes = new Set<number>()
  await withHubHere(flags, async (hub, options) => {
    sayPrivate(options)
    narrate(hub, options, flags)
    const answers = inOrder(readJsonLines(file, signal), (line) => answer(hub, line, signal), CONCURRENCY)
    for await (const { id, result } of answers) {
      codes.add(exitCodeOfResult(result))
      await printJsonLine({ id, ...result })
    }
  })
  process.exitCode = worstExitCode(codes)
}

async function answer(hub: Hub, line: JsonLine, signal: AbortSignal): Promise<Answer> {
  if ('problem' in line) return { id: null, result: unreadableLine(line.number, line.problem) }
  const { id = null, tool, input = {} } = line.value
  if (typeof tool !== 'string') return { id, result: unreadableLine(line.number, 'has no "tool"') }
  return { id, result: await hub.callDynamic(tool, input, { signal }) }
}

/** The result of a line that names no call: the same envelope as any other failure, so that readers need no second form. */
function unreadableLine(number: number, problem: string): Failure {
  const { code, message, retryable, fix } = new ToolError('INPUT_SCHEMA_INVALID', `Line ${number} ${problem}.`, {
    hint: 'A line is {"id": …, "tool": "…", "input": {…}}.',
  })
  return {
    ok: false,
    status: 'error',
    callId: '',
    tool: '',
    summary: message,
    content: [{ type: 'text', text: `${code}: ${message} ${fix.hint}` }],
    artifacts: [],
    evidence: [{ type: 'text', ref: `line ${number}`, summary: message }],
    error: { code, message, retryable, fix },
    meta: { durationMs: 0, attempts: 0 },
  }
}
