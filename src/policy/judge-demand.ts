import type { Capability, Constraints, Effect } from '../core/index.ts'
import type { Policy } from './compile-policy.ts'
import type { CompiledRule } from './compile-rule.ts'
import { NO_CONSTRAINTS, pickRule } from './pick-rule.ts'
import type { DemandDecision, PolicyQuestion } from './question.ts'
import { allowsSome, type Demand } from './rule-index.ts'
import { NOTHING_TO_FIX, suggestFix } from './suggest-fix.ts'

/** What the rules say to one demand. */
export interface Judgement {
  readonly effect: Effect
  /** The rule that says it; none when no rule is about the demand. */
  readonly rule?: CompiledRule
  /** The rule is a default, and the owner names other targets. */
  readonly isNarrowed?: boolean
  readonly constraints: Constraints
}

/** What a decision is about, as shown to people. */
export interface Need {
  readonly capability?: Capability
  readonly target?: string
  /** Patterns that would allow it, where the target itself is none. */
  readonly patterns?: readonly string[]
  /** Rules that keep other parts of it from being allowed. */
  readonly others?: readonly CompiledRule[]
}

/** The first level with a rule about the demand decides it. */
export function judgeDemand({ levels }: Policy, question: PolicyQuestion, demand: Demand): Judgement {
  for (const level of levels) {
    const choice = pickRule(level, question, demand)
    if (choice === undefined) continue
    const { rule, constraints } = choice
    // A default allows everything of its kind; an owner who allows some targets by name does not mean all the others.
    const isNarrowed =
      rule.layer === 'defaults' && rule.effect === 'allow' && levels.some((each) => allowsSome(each, question, demand))
    return isNarrowed
      ? { effect: 'ask', rule, isNarrowed, constraints: NO_CONSTRAINTS }
      : { effect: rule.effect, rule, constraints }
  }
  return { effect: demand.capability === undefined ? 'allow' : 'ask', constraints: NO_CONSTRAINTS }
}

/** A judgement in words. */
export function tellJudgement(question: PolicyQuestion, need: Need, judgement: Judgement): DemandDecision {
  const { rule, constraints, isNarrowed } = judgement
  const { capability, target } = need
  if (rule === undefined) return tellDefault(question, need)
  if (isNarrowed) {
    return {
      capability,
      target,
      effect: 'ask',
      rule: 'default: where your rules allow some targets, others are asked',
      source: 'built in',
      layer: 'fallback',
      reason: `Your rules allow ${capability} on other targets, not on this one.`,
      fix: suggestFix(question, need, undefined),
      constraints,
    }
  }
  const { effect, text, source, layer, reason } = rule
  return {
    capability,
    target,
    effect,
    rule: text,
    source,
    layer,
    reason,
    fix: suggestFix(question, need, rule),
    constraints,
  }
}

function tellDefault(question: PolicyQuestion, need: Need): DemandDecision {
  const { capability, target } = need
  const isPure = capability === undefined
  return {
    capability,
    target,
    effect: isPure ? 'allow' : 'ask',
    rule: isPure ? 'default: a pure tool runs' : 'default: a tool with capabilities asks',
    source: 'built in',
    layer: 'fallback',
    reason: isPure
      ? 'It declares no capabilities, so it gets no handle to anything outside.'
      : `No rule is about ${capability}${target === undefined ? '' : ' on this target'}.`,
    fix: isPure ? NOTHING_TO_FIX : suggestFix(question, need, undefined),
    constraints: NO_CONSTRAINTS,
  }
}
