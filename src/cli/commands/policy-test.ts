import type { Command } from 'commander'
import type { Hub } from '../../hub/index.ts'
import { escapeLine } from '../../lib/index.ts'
import { EXIT } from '../exit-code.ts'
import { type HubFlags, withHubHere } from '../hub/with-hub.ts'
import { addConfigOption } from '../input/add-options.ts'
import { inOrder } from '../input/in-order.ts'
import { type JsonLine, readJsonLines } from '../input/read-json-lines.ts'
import { interruptSignal } from '../interrupt.ts'
import { printJsonLine, readerGone, say } from '../output/print.ts'

/** One line of the answer, and what was expected of it. */
interface Verdict {
  readonly line: number
  readonly expect?: string
  readonly answer: {
    readonly id: unknown
    readonly effect: string
    readonly rule: string
    readonly source: string
    readonly reason: string
  }
}

const AT_ONCE = 8
const EFFECTS = ['allow', 'ask', 'deny']
/** Expected of every line, and of one that cannot be read in vain. */
const READABLE = 'a readable line'

const EXAMPLES = `
A line is {"id": …, "tool": "…", "input": {…}, "expect": "allow" | "ask" | "deny"}; expect may be missing.
An answer is {"id","effect","rule","source","reason"}, in the order of the lines. A call that could not be made
(unknown tool, wrong arguments, a line that is no JSON) is answered deny, with the error code as its rule.
What differs is reported on stderr, and last how many are as expected.
Exit code: 1 when an expectation differs or a line cannot be read, else 0.

Examples:
  tool-hub policy test expectations.jsonl
  echo '{"id":1,"tool":"core/util.time.now","input":{},"expect":"allow"}' | tool-hub policy test -`

/** `policy test`: decisions compared with a file of expectations. */
export function describePolicyTest(command: Command): void {
  addConfigOption(command)
    .description('Decide on the calls of a file, a JSON line each, and compare with what it expects. Calls nothing.')
    .argument('<file>', 'A file of JSON lines, or - for stdin')
    .option('--root <dir>', 'Folder that tools may read and write')
    .addHelpText('after', EXAMPLES)
    .action(test)
}

function test(file: string, flags: HubFlags): Promise<void> {
  return withHubHere(flags, (hub) => judgeAll(hub, file))
}

async function judgeAll(hub: Hub, file: string): Promise<void> {
  const lines = readJsonLines(file, AbortSignal.any([interruptSignal(), readerGone]))
  let expected = 0
  let met = 0
  for await (const { line, expect, answer } of inOrder(lines, (each) => judge(hub, each), AT_ONCE)) {
    await printJsonLine(answer)
    if (expect === undefined) continue
    expected++
    if (expect === answer.effect) met++
    else tellDifference(line, expect, answer)
  }
  if (met < expected) process.exitCode = EXIT.failed
  say(expected === 0 ? 'No line says what it expects.' : `${met} of ${expected} as expected`)
}

function tellDifference(line: number, expect: string, { id, effect, rule, reason }: Verdict['answer']): void {
  const name = id === null ? '' : ` (${JSON.stringify(id)})`
  const got = expect === READABLE ? reason : `expected ${expect}, got ${effect} by ${rule}`
  say(escapeLine(`line ${line}${name}: ${got}`))
}

async function judge(hub: Hub, line: JsonLine): Promise<Verdict> {
  if ('problem' in line) return unreadable(line.number, null, line.problem)
  const { id = null, tool, input = {}, expect } = line.value
  if (typeof tool !== 'string') return unreadable(line.number, id, 'has no "tool"')
  if (expect !== undefined && !isEffect(expect))
    return unreadable(line.number, id, `expects ${JSON.stringify(expect)}; it can be ${EFFECTS.join(', ')}`)
  const { effect, rule, source, reason } = await hub.explain(tool, input)
  return { line: line.number, expect, answer: { id, effect, rule, source, reason } }
}

function isEffect(value: unknown): value is string {
  return EFFECTS.some((effect) => effect === value)
}

/** What cannot be read is never allowed, and never what was expected. */
function unreadable(line: number, id: unknown, problem: string): Verdict {
  const reason = `Line ${line} ${problem}.`
  const answer = { id, effect: 'deny', rule: 'INPUT_SCHEMA_INVALID', source: 'built in', reason }
  return { line, expect: READABLE, answer }
}
