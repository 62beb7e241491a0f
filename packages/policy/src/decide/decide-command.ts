import type { Fix, Rule } from '@tool-hub/core'
import { escapeLine } from '@tool-hub/core/lib'
import { type CommandPart, type CommandReading, isSevere, RISKS, type Risk, rankOf, readRoughly } from '@tool-hub/shell'
import type { Policy } from '../compile-policy.ts'
import { mergeConstraints, NO_CONSTRAINTS } from '../constraints.ts'
import { partAsPattern } from '../match/index.ts'
import { BUILT_IN, type DemandDecision, type PolicyQuestion, STRICTNESS } from '../question.ts'
import { describeJudgement, type Need } from './judge.ts'
import { describeDoubt, findKeptFile, type JudgedPart, judgePart } from './judge-part.ts'
import { suggestFix, writeRule } from './suggest-fix.ts'

const MAX_PART_LENGTH = 120

const APPROVE = { key: 'policy', hint: 'Approve it when asked: no rule can allow exactly this command.' } as const
const SPLIT = { hint: 'Run its commands one by one: more than one rule keeps it from running.' } as const

/** Decides whether a command line may run. Every part of it is judged by itself; the strictest decides. */
export function decideCommand(policy: Policy, question: PolicyQuestion, target: string): DemandDecision {
  const reading = question.readings?.get(target) ?? readRoughly(target)
  const refusal = reading.doubts.find(({ kind }) => kind === 'refused')
  if (refusal) return refuse(target, refusal.reason)
  const judged = judgeParts(policy, question, reading)
  const deciding = findDeciding(policy, question, judged)
  const constraints = judged.reduce((all, each) => mergeConstraints(all, each.constraints), NO_CONSTRAINTS)
  const decision = describeDecision(policy, question, target, reading, judged, deciding)
  if (decision.effect === 'allow') return askInDoubt({ ...decision, constraints }, reading)
  const fix = withRisk(policy, question, judged, tryFix(policy, question, reading, decision))
  return { ...decision, fix, constraints }
}

/**
 * Never proposes a rule that would let a dangerous command run without an approval: it proposes one that asks. For lesser
 * risks the hint says what the rule would permit.
 */
function withRisk(policy: Policy, question: PolicyQuestion, judged: readonly JudgedPart[], fix: Fix): Fix {
  const rule = fix.value as Rule | undefined
  if (rule?.allow === undefined) return fix
  const open = judged.filter(({ effect }) => effect !== 'allow')
  const risks = open.flatMap(({ part }) => risksOfPart(policy, question, part))
  const [worst] = risks.sort((a, b) => rankOf(a.risk) - rankOf(b.risk))
  if (worst === undefined) return fix
  if (!isSevere(worst.risk)) return { ...fix, hint: `${fix.hint} It then needs no approval, and it ${worst.words}.` }
  if (open.every(({ effect }) => effect === 'ask'))
    return {
      key: 'policy',
      hint: `Approve it when asked: it ${worst.words}, and a rule that allows it would let it run without an approval.`,
    }
  const value: Rule = { ask: rule.allow, on: rule.on }
  return {
    key: 'policy',
    value,
    hint: `Add ${writeRule(value)} to ${policy.place}, then approve it when asked: it ${worst.words}.`,
  }
}

function judgeParts(policy: Policy, question: PolicyQuestion, { parts }: CommandReading): readonly JudgedPart[] {
  return parts.map((part) => judgePart(policy, question, part))
}

/** Tries a proposed rule: other rules, or other parts of the line, may keep it from having an effect. */
function tryFix(
  policy: Policy,
  question: PolicyQuestion,
  reading: CommandReading,
  { effect, fix }: DemandDecision,
): Fix {
  if (fix.value === undefined) return fix
  const tried = policy.withRule({ rule: fix.value as Rule, source: { file: 'fix' }, base: '/' })
  if (judgeParts(tried, question, reading).every((each) => each.effect === 'allow')) return fix
  return effect === 'deny' ? SPLIT : APPROVE
}

function describeDecision(
  policy: Policy,
  question: PolicyQuestion,
  target: string,
  reading: CommandReading,
  judged: readonly JudgedPart[],
  deciding: JudgedPart,
): DemandDecision {
  const { part, doubt, rule } = deciding
  const isWhole = reading.parts.length === 1 && part.where === undefined
  const named = isWhole ? undefined : describePart(part)
  const prefix = named === undefined ? '' : `${named}: `
  const others = judged.flatMap((each) => (each.effect === 'allow' ? [] : (each.rule ?? [])))
  const need = { capability: 'exec', target, patterns: patternsFor(reading, judged) ?? [], others } satisfies Need
  const decision = describeJudgement(policy, question, need, deciding)
  if (doubt === undefined) return { ...decision, reason: `${prefix}${decision.reason}`, part: named }
  return {
    ...decision,
    effect: 'ask',
    rule: 'default: what an allow does not cover is asked',
    ...BUILT_IN,
    reason: `${prefix || 'The command: '}${escapeLine(describeDoubt(doubt, rule!))}`,
    fix: need.patterns.length === 0 ? APPROVE : suggestFix(policy, question, need, undefined),
    part: named,
  }
}

/** A pattern for each part that is not allowed yet; `undefined` if one of them cannot be written as a pattern. */
function patternsFor({ doubts }: CommandReading, judged: readonly JudgedPart[]): readonly string[] | undefined {
  const others = judged.filter(({ effect }) => effect !== 'allow')
  const patterns = others.map(({ part }) => {
    const isSpelt = part.doubts.every(({ at }) => at !== undefined && at < part.words.length)
    return isSpelt ? partAsPattern(part) : undefined
  })
  const known = patterns.filter((pattern) => pattern !== undefined)
  return doubts.length > 0 || known.length < patterns.length ? undefined : [...new Set(known)]
}

/** A line that could not be read with certainty is never allowed without an approval. */
function askInDoubt(decision: DemandDecision, { doubts }: CommandReading): DemandDecision {
  const [doubt] = doubts
  if (doubt === undefined) return decision
  return {
    ...decision,
    effect: 'ask',
    rule: 'default: a command that cannot be read with certainty asks',
    ...BUILT_IN,
    reason: `It cannot be read with certainty: ${escapeLine(doubt.reason)}.`,
    fix: APPROVE,
    part: undefined,
  }
}

function refuse(target: string, reason: string): DemandDecision {
  return {
    capability: 'exec',
    target,
    effect: 'deny',
    rule: 'default: a command that cannot run is refused',
    ...BUILT_IN,
    reason: `The command cannot run: ${reason}.`,
    fix: { hint: 'Write the command without it.' },
    constraints: NO_CONSTRAINTS,
  }
}

/** "`rm -rf /` inside `$(…)` of the second argument". */
function describePart({ text, where }: CommandPart): string {
  const line = escapeLine(text.length > MAX_PART_LENGTH ? `${text.slice(0, MAX_PART_LENGTH)}…` : text)
  return where === undefined ? `\`${line}\`` : `\`${line}\` ${escapeLine(where)}`
}

/** A risk of a command in words that follow "it": "deletes files". */
interface CommandRisk {
  readonly risk: Risk
  readonly words: string
}

/** The risks of one part of a command line, the most dangerous first. */
export function risksOfPart(policy: Policy, question: PolicyQuestion, part: CommandPart): CommandRisk[] {
  const known = (part.risks ?? []).map((risk) => ({ risk, words: RISKS[risk] }))
  const kept = part.risks?.includes('deletes') ? undefined : findKeptFile(policy, question, part)
  if (kept === undefined) return known
  const name = escapeLine(kept.path.slice(kept.path.lastIndexOf('/') + 1))
  const words = kept.rule.layer === 'always' ? RISKS.secrets : 'reads a file that tools may not read'
  const secret = { risk: 'secrets', words: `${words} (${name})` } as const
  return [secret, ...known].sort((a, b) => rankOf(a.risk) - rankOf(b.risk))
}

/** The part that decides: of the strictest the most dangerous, of those the first. */
export function findDeciding(policy: Policy, question: PolicyQuestion, judged: readonly JudgedPart[]): JudgedPart {
  const most = Math.max(...judged.map(({ effect }) => STRICTNESS[effect]))
  const strictest = judged.filter(({ effect }) => STRICTNESS[effect] === most)
  if (strictest.length === 1 || most === 0) return strictest[0]!
  const ranks = strictest.map(({ part }) => rankOf(risksOfPart(policy, question, part)[0]?.risk))
  return strictest[ranks.indexOf(Math.min(...ranks))]!
}
