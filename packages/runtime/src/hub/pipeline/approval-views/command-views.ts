import { type ApprovalView, ToolError } from '@tool-hub/core'
import { asSentence, revealLine, revealText } from '@tool-hub/core/lib'
import {
  describeDoubt,
  describeJudgement,
  findDeciding,
  type JudgedPart,
  judgePart,
  type Policy,
  type PolicyQuestion,
  risksOfPart,
  STRICTNESS,
} from '@tool-hub/policy'
import type { CommandReading, Risk } from '@tool-hub/shell'
import type { DecisionRedactor } from '../../../records/redaction/index.ts'
import type { RunState } from '../../run-state.ts'
import type { Runtime } from '../../runtime.ts'
import type { DecidedCall } from '../call.ts'
import { question } from '../decide.ts'

/** A command as policy reads it. */
type CommandView = Extract<ApprovalView, { kind: 'command' }>
type PartView = CommandView['parts'][number]

const MAX_COMMANDS = 20
const MAX_PARTS = 200
const MAX_HOSTS = 5
/** The risks of programs that connect to the URLs among their arguments. */
const REACHING: ReadonlySet<Risk> = new Set(['network', 'sends', 'pushes', 'publishes', 'installs'])

/** Returns the commands of a call as policy reads them. Decisions are pure, so they are computed again rather than stored. */
export function commandViews(
  runtime: Runtime,
  run: Pick<RunState, 'tainted' | 'sandbox'>,
  decided: DecidedCall,
  redactor: DecisionRedactor,
): CommandView[] {
  const foldersOf = new Map<string, Set<string>>()
  for (const { value, cwd } of decided.valid.commands) {
    // The same command line in two folders was decided as one.
    const folders = foldersOf.get(value) ?? new Set()
    foldersOf.set(value, folders.add(cwd))
  }
  const asked = question(runtime, run, decided.valid)
  return [...foldersOf].slice(0, MAX_COMMANDS).map(([value, folders]) => ({
    kind: 'command',
    command: revealText(redactor.text(value)),
    cwd: revealLine(redactor.text([...folders].join(' and '))),
    parts: partViews(runtime, asked, value, redactor),
    ...notesOf(run, decided, value, redactor),
  }))
}

function notesOf(
  run: Pick<RunState, 'sandbox'>,
  decided: DecidedCall,
  value: string,
  redactor: DecisionRedactor,
): { readonly notes?: readonly string[] } {
  const notes = sandboxNotes(run, decided, decided.valid.readings.get(value)!)
  return notes.length === 0 ? {} : { notes: notes.map((note) => revealLine(redactor.text(note))) }
}

function partViews({ policy }: Runtime, asked: PolicyQuestion, value: string, redactor: DecisionRedactor): PartView[] {
  const judged = asked.readings!.get(value)!.parts.map((part) => judgePart(policy, asked, part))
  const deciding = decidingOf(policy, asked, judged)
  const shownAs = textsWithin(redactor, value)
  const shown = judged.filter((each, index) => index < MAX_PARTS || each === deciding)
  const views = shown.map((each) => ({
    text: shownAs(each),
    effect: each.effect,
    rule: revealLine(redactor.text(ruleOf(policy, asked, value, each))),
    decides: each === deciding,
    ...riskViews(policy, asked, each, redactor),
  }))
  const rest = judged.filter((each, index) => index >= MAX_PARTS && each !== deciding)
  return rest.length === 0 ? views : [...views, restView(rest)]
}

/** Returns the command that decides, or `undefined` if each is allowed and the line as a whole needs the approval. */
function decidingOf(policy: Policy, asked: PolicyQuestion, judged: readonly JudgedPart[]): JudgedPart | undefined {
  const deciding = judged.length === 0 ? undefined : findDeciding(policy, asked, judged)
  return deciding?.effect === 'allow' ? undefined : deciding
}

/** Returns the risks of one command in plain words. */
function riskViews(
  policy: Policy,
  asked: PolicyQuestion,
  { part }: JudgedPart,
  redactor: DecisionRedactor,
): { readonly risks?: readonly string[] } {
  const risks = risksOfPart(policy, asked, part).map(({ words }) => revealLine(redactor.text(asSentence(words))))
  return risks.length === 0 ? {} : { risks }
}

function ruleOf(policy: Policy, asked: PolicyQuestion, target: string, judged: JudgedPart): string {
  const { doubt, rule } = judged
  if (doubt !== undefined) return describeDoubt(doubt, rule!)
  return describeJudgement(policy, asked, { capability: 'exec', target }, judged).rule
}

/** Returns a function that shows each command of a line without secrets; one secret may span several commands. */
function textsWithin(redactor: DecisionRedactor, line: string): (judged: JudgedPart) => string {
  return ({ part: { text, where } }) => {
    const place = where === undefined ? '' : ` (${revealLine(redactor.text(where))})`
    return `${revealText(redactor.part(line, text))}${place}`
  }
}

function restView(rest: readonly JudgedPart[]): PartView {
  const effect = rest.reduce((most, each) => (STRICTNESS[each.effect] > STRICTNESS[most.effect] ? each : most)).effect
  return { text: `… ${rest.length} more`, effect, rule: 'the strictest of them', decides: false }
}

/** Returns a note for each host that the command names and that its sandbox cannot reach. */
function sandboxNotes({ sandbox }: Pick<RunState, 'sandbox'>, decided: DecidedCall, reading: CommandReading): string[] {
  // Without a sandbox the network is open.
  if (decided.valid.sandbox === undefined || decided.valid.sandbox === 'none') return []
  const urls = reading.parts.flatMap(({ words, risks = [] }) =>
    risks.some((risk) => REACHING.has(risk))
      ? words.filter((word) => word !== undefined && /^https?:\/\//i.test(word))
      : [],
  )
  const closed = new Set<string>()
  for (const url of urls) if (isClosed(sandbox, decided, url!)) closed.add(new URL(url!).hostname)
  return [...closed]
    .slice(0, MAX_HOSTS)
    .map((host) => `The sandbox cannot reach ${host} because sandbox.network does not include it, so this will fail.`)
}

function isClosed(sandbox: RunState['sandbox'], { tool }: DecidedCall, url: string): boolean {
  if (!URL.canParse(url)) return false
  // The commands of a tool that does not declare `network` have no network, whatever the owner allows to other tools.
  if (!tool.capabilities.has('network')) return true
  try {
    sandbox.network().resolve(url)
    return false
  } catch (error) {
    return ToolError.is(error) && error.code === 'HTTP_DISALLOWED_HOST'
  }
}
