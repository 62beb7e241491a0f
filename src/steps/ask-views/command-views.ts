import { findDeciding, risksOfPart } from '../../policy/command-risk.ts'
import type { Policy } from '../../policy/compile-policy.ts'
import { tellJudgement } from '../../policy/judge-demand.ts'
import { type JudgedPart, judgePart, tellDoubt } from '../../policy/judge-part.ts'
import type { Question } from '../../policy/question.ts'
import { STRICTNESS } from '../../policy/strictness.ts'
import type { DecisionRedactor } from '../../record/decision-redactor.ts'
import { asSentence } from '../../value/as-sentence.ts'
import { revealLine, revealText } from '../../value/escape-text.ts'
import type { Call } from '../call.ts'
import { question } from '../decide.ts'
import type { Parts, RunState } from '../parts.ts'
import { sandboxNotes } from './sandbox-notes.ts'
import type { CommandView } from './view-types.ts'

type PartView = CommandView['parts'][number]

const MOST_COMMANDS = 20
const MOST_PARTS = 200

/** The commands of a call as policy reads them. Judging is pure, so their parts are judged again instead of being kept. */
export function commandViews(
  parts: Parts,
  run: Pick<RunState, 'tainted' | 'doors'>,
  call: Call,
  redactor: DecisionRedactor,
): CommandView[] {
  const foldersOf = new Map<string, Set<string>>()
  for (const { value, cwd } of call.commands) {
    // The same words in two folders were judged as one.
    const folders = foldersOf.get(value) ?? new Set()
    foldersOf.set(value, folders.add(cwd))
  }
  const asked = question(parts, run, call)
  return [...foldersOf].slice(0, MOST_COMMANDS).map(([value, folders]) => ({
    kind: 'command',
    command: revealText(redactor.text(value)),
    cwd: revealLine(redactor.text([...folders].join(' and '))),
    parts: partViews(parts, asked, value, redactor),
    ...notesOf(run, call, value, redactor),
  }))
}

function notesOf(
  run: Pick<RunState, 'doors'>,
  call: Call,
  value: string,
  redactor: DecisionRedactor,
): { readonly notes?: readonly string[] } {
  const notes = sandboxNotes(run, call, call.readings.get(value)!)
  return notes.length === 0 ? {} : { notes: notes.map((note) => revealLine(redactor.text(note))) }
}

function partViews({ policy }: Parts, asked: Question, value: string, redactor: DecisionRedactor): PartView[] {
  const judged = asked.readings!.get(value)!.parts.map((part) => judgePart(policy, asked, part))
  const deciding = decidingOf(policy, asked, judged)
  const shownAs = textsWithin(redactor, value)
  const shown = judged.filter((each, index) => index < MOST_PARTS || each === deciding)
  const views = shown.map((each) => ({
    text: shownAs(each),
    effect: each.effect,
    rule: revealLine(redactor.text(ruleOf(asked, value, each))),
    decides: each === deciding,
    ...riskViews(policy, asked, each, redactor),
  }))
  const rest = judged.filter((each, index) => index >= MOST_PARTS && each !== deciding)
  return rest.length === 0 ? views : [...views, restView(rest)]
}

/** None when all are allowed: then the line as a whole is what is asked. */
function decidingOf(policy: Policy, asked: Question, judged: readonly JudgedPart[]): JudgedPart | undefined {
  const deciding = judged.length === 0 ? undefined : findDeciding(policy, asked, judged)
  return deciding?.effect === 'allow' ? undefined : deciding
}

/** What is dangerous about a part, in words. */
function riskViews(
  policy: Policy,
  asked: Question,
  { part }: JudgedPart,
  redactor: DecisionRedactor,
): { readonly risks?: readonly string[] } {
  const risks = risksOfPart(policy, asked, part).map(({ words }) => revealLine(redactor.text(asSentence(words))))
  return risks.length === 0 ? {} : { risks }
}

function ruleOf(asked: Question, target: string, judged: JudgedPart): string {
  const { doubt, rule } = judged
  if (doubt !== undefined) return tellDoubt(doubt, rule!)
  return tellJudgement(asked, { capability: 'exec', target }, judged).rule
}

/** Shows parts of a line, of whose known secrets one may go across parts. */
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
