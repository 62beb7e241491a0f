import { type CallError, type JsonLine, ToolError } from '@tool-hub/core'
import { escapeLine, escapeText } from '@tool-hub/core/lib'
import type { PolicyWarning } from '@tool-hub/policy'
import type { Hub } from '@tool-hub/runtime/hub'
import type { Command } from 'commander'
import { EXIT, exitCodeOfFailure, interruptSignal } from '../exit.ts'
import { readCliConfig } from '../hub/config.ts'
import { findRunId } from '../hub/find-run.ts'
import { allReady } from '../hub/sources.ts'
import { type HubFlags, withHubHere, withHubOf } from '../hub/with-hub.ts'
import { inOrder, readJsonLines } from '../input/json-lines.ts'
import { addConfigOption } from '../input/options.ts'
import { readToolArguments } from '../input/read-arguments.ts'
import { wrapText } from '../output/layout.ts'
import { print, printJson, printJsonLine, readerGone, say, style } from '../output/print.ts'
import { describePolicyReplay, describePolicyShadow, describePolicySuggest } from './policy-records.ts'
import { describePolicyShow } from './policy-show.ts'

const EXPLAIN_EXAMPLES = `
Nothing is called and nothing is recorded.
Exit code: 0 for any decision, 1 if the arguments are invalid, 2 if the tool does not exist.

Examples:
  tool-hub policy explain core/util.time.now
  tool-hub policy explain core/util.hash.sha256Text '{"text":"hi"}'
  tool-hub policy explain core/util.hash.sha256Text --text hi --json
  tool-hub policy explain core/http.fetchText --url https://api.example.org --run run-20261115`

/** `policy`: everything about what tools may do. */
export function describePolicy(command: Command): void {
  command.description('Explain, check, test and show what tools may do.')
  describePolicyExplain(
    command.command('explain').summary('Explain the decision about a call, and what would change it'),
  )
  describePolicyShow(command.command('show').summary('Show the effective rules, and where they come from'))
  describePolicyCheck(command.command('check').summary('Find mistakes in the config and the rules'))
  describePolicyTest(command.command('test').summary('Compare decisions with the expected ones'))
  describePolicyReplay(command.command('replay').summary('Decide the calls of a run again, with other rules'))
  describePolicyShadow(
    command.command('shadow').summary('Show where the shadow policy differs from the policy in force'),
  )
  describePolicySuggest(command.command('suggest').summary('Suggest rules for calls that people approved'))
}

/** `policy explain`: the decision about one call. */
function describePolicyExplain(command: Command): void {
  addConfigOption(command)
    .description(
      'Explain the decision about a call: the effect, the rule, where it is written, and what would change it.',
    )
    .argument('<tool>', 'Name of the tool')
    .argument('[arguments...]', "'{json}', or -, or --name value …")
    .allowUnknownOption()
    .option('--root <dir>', 'Folder that tools may read and write')
    .option('--run <id>', 'Decide as in this run (id or its beginning), which may have read content from outside')
    .addHelpText('after', EXPLAIN_EXAMPLES)
    .action(explain)
}

async function explain(tool: string, words: string[], flags: HubFlags & { readonly json?: boolean }): Promise<void> {
  const run = await findRunId(flags)
  const { text, ...facts } = await withHubHere({ ...flags, run }, async (hub) =>
    hub.explain(tool, await readToolArguments(hub, { tool, words, flags })),
  )
  const { error } = facts
  if (error?.code === 'TOOL_NOT_FOUND') throw new ToolError(error.code, error.message, { fix: error.fix })
  if (error) process.exitCode = exitCodeOfNoAnswer(error)
  await (flags.json ? printJson(facts) : print(wrapText(escapeText(text), 6)))
}

/** A refusal, also one of a guard or a list, is an answer. */
function exitCodeOfNoAnswer(error: CallError): number {
  const code = exitCodeOfFailure(error)
  return code === EXIT.denied ? EXIT.ok : code
}

const CHECK_EXAMPLES = `
Exit code: 2 if there is an error (a config that cannot be used, an allow that grants nothing), else 0.

Examples:
  tool-hub policy check
  tool-hub policy check --config staging.yaml --json`

/** `policy check`: what cannot be meant. */
function describePolicyCheck(command: Command): void {
  addConfigOption(command)
    .description(
      'Find mistakes in the config and the rules: unknown tool names, rules that never decide, paths that tools cannot reach.',
    )
    .addHelpText('after', CHECK_EXAMPLES)
    .action(check)
}

async function check(flags: { readonly config?: string; readonly json?: boolean }): Promise<void> {
  const { options, warnings } = await readCliConfig({ ...flags, isQuiet: true })
  const ofRules = await withHubOf(options, async (hub) => {
    await allReady(hub)
    return hub.check()
  })
  const doubts = [...warnings.map(ofConfig), ...ofRules]
  if (doubts.some(({ level }) => level === 'error')) process.exitCode = EXIT.usage
  if (flags.json) return printJson(doubts)
  if (doubts.length === 0) return say('No mistakes found in the config and the rules.')
  await print(doubts.map(describeWarning).join('\n'))
}

/** `policy.yaml:13 allowed_paths: …`, or `tool-hub.mjs#redact.env …` where lines are not known. */
const PLACED = /^(.*?(?:(?::\d+){1,2}|#\S+)) (.+)$/s

/** What is allowed but hardly meant in the config, in the form of a doubt about a rule. */
function ofConfig(warning: string): PolicyWarning {
  const [, source = 'config', message = warning] = PLACED.exec(warning) ?? []
  return { level: 'warning', source, message }
}

function describeWarning({ level, source, message, hint }: PolicyWarning): string {
  const mark = style(level === 'error' ? 'red' : 'yellow', level)
  return wrapText(
    `${escapeText(source)}: ${mark}: ${escapeText(message)}${hint ? `\n  fix: ${escapeText(hint)}` : ''}`,
    4,
  )
}

/** One line of the answer, and what was expected of it. */
interface TestAnswer {
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

const CONCURRENCY = 8
const EFFECTS = ['allow', 'ask', 'deny']
/** Expected of every line, and of one that cannot be read in vain. */
const READABLE = 'a readable line'

const TEST_EXAMPLES = `
A line is {"id": …, "tool": "…", "input": {…}, "expect": "allow" | "ask" | "deny"}; expect is optional.
An answer is {"id","effect","rule","source","reason"}, in the order of the lines. A call that could not be made
(unknown tool, invalid arguments, a line that is not JSON) is answered deny, with the error code as its rule.
Differences are reported on stderr, followed by the number of lines that are as expected.
Exit code: 1 if a decision differs from the expected one or a line cannot be read, else 0.

Examples:
  tool-hub policy test expectations.jsonl
  echo '{"id":1,"tool":"core/util.time.now","input":{},"expect":"allow"}' | tool-hub policy test -`

/** `policy test`: decisions compared with a file of expectations. */
function describePolicyTest(command: Command): void {
  addConfigOption(command)
    .description(
      'Decide the calls in a file, one JSON line each, and compare with what each line expects. Calls nothing.',
    )
    .argument('<file>', 'A file of JSON lines, or - for stdin')
    .option('--root <dir>', 'Folder that tools may read and write')
    .addHelpText('after', TEST_EXAMPLES)
    .action(test)
}

function test(file: string, flags: HubFlags): Promise<void> {
  return withHubHere(flags, (hub) => answerLines(hub, file))
}

async function answerLines(hub: Hub, file: string): Promise<void> {
  const lines = readJsonLines(file, AbortSignal.any([interruptSignal(), readerGone]))
  let expected = 0
  let met = 0
  for await (const { line, expect, answer } of inOrder(lines, (each) => answerLine(hub, each), CONCURRENCY)) {
    await printJsonLine(answer)
    if (expect === undefined) continue
    expected++
    if (expect === answer.effect) met++
    else sayDifference(line, expect, answer)
  }
  if (met < expected) process.exitCode = EXIT.failed
  say(expected === 0 ? 'No line says what it expects.' : `${met} of ${expected} as expected`)
}

function sayDifference(line: number, expect: string, { id, effect, rule, reason }: TestAnswer['answer']): void {
  const name = id === null ? '' : ` (${JSON.stringify(id)})`
  const got = expect === READABLE ? reason : `expected ${expect}, got ${effect} by ${rule}`
  say(escapeLine(`line ${line}${name}: ${got}`))
}

async function answerLine(hub: Hub, line: JsonLine): Promise<TestAnswer> {
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
function unreadable(line: number, id: unknown, problem: string): TestAnswer {
  const reason = `Line ${line} ${problem}.`
  const answer = { id, effect: 'deny', rule: 'INPUT_SCHEMA_INVALID', source: 'built in', reason }
  return { line, expect: READABLE, answer }
}
