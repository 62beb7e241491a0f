import type { Capability } from '../define.ts'
import type { SkillRequest } from '../rule.ts'
import type { Policy } from './compile-policy.ts'
import type { CompiledRule } from './compile-rule.ts'
import { readTarget } from './match-target.ts'
import { mergeConstraints, NO_CONSTRAINTS, pickRule } from './pick-rule.ts'
import type { Decision, DemandDecision, Question } from './question.ts'
import { allowsSome, type Demand } from './rule-index.ts'
import { STRICTNESS } from './strictness.ts'
import { NOTHING_TO_FIX, suggestFix } from './suggest-fix.ts'
import { LONGEST_TARGET, TARGET_KINDS } from './target.ts'

export type { Decision, DemandDecision, Question } from './question.ts'

/** May this call happen? Every demand is decided by itself; the strictest decides the call. */
export function decide(policy: Policy, question: Question): Decision {
  const known = policy.memory.recall(question)
  if (known) return known
  const demands = demandsOf(question).map(({ capability, target }) =>
    decideDemand(policy, question, capability, target),
  )
  const strictest = demands.reduce((worst, demand) =>
    STRICTNESS[demand.effect] > STRICTNESS[worst.effect] ? demand : worst,
  )
  const { effect, rule, source, layer, reason, fix } = strictest
  const constraints = demands.reduce((all, demand) => mergeConstraints(all, demand.constraints), NO_CONSTRAINTS)
  const decision = {
    effect,
    rule,
    source,
    layer,
    reason,
    fix,
    constraints,
    demands,
    requests: requestsFor(policy, question),
  }
  policy.memory.remember(question, decision)
  return decision
}

interface Need {
  readonly capability?: Capability
  readonly target?: string
}

/** One for each target, one for each capability without targets, one for a pure tool. */
function demandsOf({ capabilities, targets }: Question): Need[] {
  const demands: Need[] = targets.map(({ capability, value }) => ({ capability, target: value }))
  for (const capability of capabilities) {
    if (!targets.some((target) => target.capability === capability)) demands.push({ capability })
  }
  return demands.length > 0 ? demands : [{}]
}

function decideDemand(policy: Policy, question: Question, capability?: Capability, value?: string): DemandDecision {
  if (capability !== undefined && question.grants?.includes(capability) === false)
    return refuseGrant(question, capability, value)
  if (capability !== undefined && value !== undefined && value.length > LONGEST_TARGET[TARGET_KINDS[capability]])
    return refuseLength(capability, value)
  const target = capability !== undefined && value !== undefined ? readTarget(capability, value) : undefined
  for (const level of policy.levels) {
    const choice = pickRule(level, question, { capability, target })
    if (choice === undefined) continue
    if (isNarrowed(policy, question, { capability, target }, choice.rule))
      return askForOthers(question, capability!, value!)
    const { effect, text, source, layer, reason } = choice.rule
    const fix = suggestFix(question, { capability, target: value }, choice.rule)
    return {
      capability,
      target: value,
      effect,
      rule: text,
      source,
      layer,
      reason,
      fix,
      constraints: choice.constraints,
    }
  }
  return decideWithoutRule(question, capability, value)
}

/** A default allows everything of its kind; an owner who allows some targets by name does not mean all the others. */
function isNarrowed({ levels }: Policy, question: Question, demand: Demand, { layer, effect }: CompiledRule): boolean {
  return layer === 'defaults' && effect === 'allow' && levels.some((level) => allowsSome(level, question, demand))
}

function askForOthers(question: Question, capability: Capability, target: string): DemandDecision {
  return {
    capability,
    target,
    effect: 'ask',
    rule: 'default: where your rules allow some targets, others are asked',
    source: 'built in',
    layer: 'fallback',
    reason: `Your rules allow ${capability} on other targets, not on this one.`,
    fix: suggestFix(question, { capability, target }, undefined),
    constraints: NO_CONSTRAINTS,
  }
}

function decideWithoutRule(
  question: Question,
  capability: Capability | undefined,
  target: string | undefined,
): DemandDecision {
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
    fix: isPure ? NOTHING_TO_FIX : suggestFix(question, { capability, target }, undefined),
    constraints: NO_CONSTRAINTS,
  }
}

function refuseGrant(question: Question, capability: Capability, target: string | undefined): DemandDecision {
  const granted = question.grants?.join(', ') || 'nothing'
  return {
    capability,
    target,
    effect: 'deny',
    rule: 'default: a call uses only the capabilities it was granted',
    source: 'built in',
    layer: 'grants',
    reason: `${question.tool} needs ${capability}; this call was granted ${granted}.`,
    fix: { key: 'grants', value: capability, hint: `Grant ${capability} to the call.` },
    constraints: NO_CONSTRAINTS,
  }
}

/** A call waits while its target is compared with every pattern about it, and so do all others. */
function refuseLength(capability: Capability, target: string): DemandDecision {
  const limit = LONGEST_TARGET[TARGET_KINDS[capability]]
  return {
    capability,
    target,
    effect: 'deny',
    rule: 'default: a target is short enough to be compared with rules',
    source: 'built in',
    layer: 'fallback',
    reason: `The target of ${capability} has ${target.length} characters, the limit is ${limit}.`,
    fix: { hint: `Name a target of at most ${limit} characters.` },
    constraints: NO_CONSTRAINTS,
  }
}

function requestsFor({ requests }: Policy, question: Question): string[] {
  return requests
    .filter((request) => touches(request, question))
    .map(({ skill, wants, reason }) => {
      return `skill ${skill} requests ${wants.join(', ')}${reason === undefined ? '' : `: ${reason}`}`
    })
}

function touches({ wants }: SkillRequest, { tool, names, groups, capabilities }: Question): boolean {
  const known = ['*', tool, ...names, ...groups, ...capabilities]
  return wants.some((want) => known.includes(want))
}
