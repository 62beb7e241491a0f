import { tellJudgement } from '../../policy/judge-demand.ts'
import { type JudgedPart, judgePart } from '../../policy/judge-part.ts'
import type { Question } from '../../policy/question.ts'
import { STRICTNESS } from '../../policy/strictness.ts'
import type { Redactor } from '../../record/redact.ts'
import { escapeLine, escapeText } from '../../value/escape-text.ts'
import type { Call } from '../call.ts'
import { question } from '../decide.ts'
import type { Parts, RunState } from '../parts.ts'
import type { CommandView } from './view-types.ts'

type PartView = CommandView['parts'][number]

const MOST_COMMANDS = 20
const MOST_PARTS = 200

/** The commands of a call as policy reads them. Judging is pure, so their parts are judged again instead of being kept. */
export function commandViews(parts: Parts, run: Pick<RunState, 'tainted'>, call: Call): CommandView[] {
  const foldersOf = new Map<string, Set<string>>()
  for (const { value, cwd } of call.commands) {
    // The same words in two folders were judged as one.
    const folders = foldersOf.get(value) ?? new Set()
    foldersOf.set(value, folders.add(cwd))
  }
  const asked = question(parts, run, call)
  return [...foldersOf].slice(0, MOST_COMMANDS).map(([value, folders]) => ({
    kind: 'command',
    command: escapeText(parts.redactor.text(value)),
    cwd: escapeLine(parts.redactor.text([...folders].join(' and '))),
    parts: partViews(parts, asked, value),
  }))
}

function partViews({ policy, redactor }: Parts, asked: Question, value: string): PartView[] {
  const judged = asked.readings!.get(value)!.parts.map((part) => judgePart(policy, asked, part))
  const deciding = decidingOf(judged)
  const shownAs = textsWithin(redactor, value)
  const shown = judged.filter((each, index) => index < MOST_PARTS || each === deciding)
  const views = shown.map((each) => ({
    text: shownAs(each),
    effect: each.effect,
    rule: escapeLine(redactor.text(ruleOf(asked, value, each))),
    decides: each === deciding,
  }))
  const rest = judged.filter((each, index) => index >= MOST_PARTS && each !== deciding)
  return rest.length === 0 ? views : [...views, restView(rest)]
}

/** The first of the strictest; none when all are allowed: then the line as a whole is what is asked. */
function decidingOf(judged: readonly JudgedPart[]): JudgedPart | undefined {
  const strictest = judged.reduce<JudgedPart | undefined>(
    (worst, each) => (worst === undefined || STRICTNESS[each.effect] > STRICTNESS[worst.effect] ? each : worst),
    undefined,
  )
  return strictest?.effect === 'allow' ? undefined : strictest
}

function ruleOf(asked: Question, target: string, judged: JudgedPart): string {
  const { doubt, rule } = judged
  if (doubt !== undefined) return `${doubt}, which ${rule!.text} does not cover`
  return tellJudgement(asked, { capability: 'exec', target }, judged).rule
}

/**
 * Shows parts of a line. A secret that the line holds may go across parts, where none of them looks like one: beside a
 * secret a part is shown only as far as the line without its secrets shows it too.
 */
function textsWithin(redactor: Redactor, line: string): (judged: JudgedPart) => string {
  const safe = redactor.text(line)
  return ({ part: { text, where } }) => {
    const own = redactor.text(text)
    const isShown = safe === line || safe.includes(own)
    const place = where === undefined ? '' : ` (${escapeLine(redactor.text(where))})`
    return `${isShown ? escapeText(own) : '[redacted:secret]'}${place}`
  }
}

function restView(rest: readonly JudgedPart[]): PartView {
  const effect = decidingOf(rest)?.effect ?? 'allow'
  return { text: `… ${rest.length} more`, effect, rule: 'the strictest of them', decides: false }
}
