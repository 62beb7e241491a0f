import { type Failure, type JsonLine, ToolError, type ToolResult } from '@tool-hub/core'
import type { Hub } from '@tool-hub/runtime/hub'
import type { Command } from 'commander'
import { exitCodeOfResult, interruptSignal, worstExitCode } from '../exit.ts'
import { sayPrivate } from '../hub/folders.ts'
import { type HubFlags, withHubHere } from '../hub/with-hub.ts'
import { inOrder, readJsonLines } from '../input/json-lines.ts'
import { addCallOptions } from '../input/options.ts'
import { narrate } from '../output/describe-request.ts'
import { printJsonLine, readerGone } from '../output/print.ts'

interface Answer {
  readonly id: unknown
  readonly result: ToolResult
}

const CONCURRENCY = 8

const EXAMPLES = `
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
    .addHelpText('after', EXAMPLES)
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
