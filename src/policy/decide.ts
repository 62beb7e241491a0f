import type { Capability, SkillRequest } from '../core/index.ts'
import type { Policy } from './compile-policy.ts'
import { decideCommand } from './decide-command.ts'
import { describeJudgement, judgeDemand, mergeConstraints, NO_CONSTRAINTS } from './judge.ts'
import { readTarget } from './match-target.ts'
import { type Decision, type DemandDecision, type PolicyQuestion, STRICTNESS } from './question.ts'
import { MAX_TARGET_LENGTH, TARGET_KINDS } from './target.ts'

/** Decides whether a call may happen. Within an outer policy the stricter of both decisions holds. */
export function decide(policy: Policy, question: PolicyQuestion): Decision {
  const own = decideAlone(policy, question)
  return policy.within ? stricter(own, decide(policy.within, question)) : own
}

/** The stricter of two decisions, under the bounds of both. */
function stricter(own: Decision, outer: Decision): Decision {
  const decision = STRICTNESS[outer.effect] > STRICTNESS[own.effect] ? outer : own
  return { ...decision, constraints: mergeConstraints(own.constraints, outer.constraints) }
}

/** Decides every demand of the call by itself; the strictest decision holds. */
function decideAlone(policy: Policy, question: PolicyQuestion): Decision {
  const isRepeatable = question.targets.length === 0 && question.grants === undefined
  const known = isRepeatable ? policy.memory.recall(question) : undefined
  if (known) return known
  const demands = demandsOf(question).map(({ capability, target }) =>
    decideDemand(policy, question, capability, target),
  )
  const strictest = demands.reduce((worst, demand) =>
    STRICTNESS[demand.effect] > STRICTNESS[worst.effect] ? demand : worst,
  )
  const { effect, rule, source, layer, reason, fix, part } = strictest
  const constraints = demands.reduce((all, demand) => mergeConstraints(all, demand.constraints), NO_CONSTRAINTS)
  const decision = {
    effect,
    rule,
    source,
    layer,
    reason,
    fix,
    part,
    constraints,
    demands,
    requests: requestsFor(policy.requests, question),
  }
  if (isRepeatable) policy.memory.remember(question, decision)
  return decision
}

interface Need {
  readonly capability?: Capability
  readonly target?: string
}

/** One for each target, one for each capability without targets, one for a pure tool. */
function demandsOf({ capabilities, targets }: PolicyQuestion): Need[] {
  const demands: Need[] = targets.map(({ capability, value }) => ({ capability, target: value }))
  for (const capability of capabilities) {
    if (!targets.some((target) => target.capability === capability)) demands.push({ capability })
  }
  return demands.length > 0 ? demands : [{}]
}

function decideDemand(
  policy: Policy,
  question: PolicyQuestion,
  capability?: Capability,
  value?: string,
): DemandDecision {
  if (capability === undefined) return describeJudgement(question, {}, judgeDemand(policy, question, {}))
  if (question.grants?.includes(capability) === false) return refuseGrant(question, capability, value)
  const kind = TARGET_KINDS[capability]
  if (value !== undefined && value.length > MAX_TARGET_LENGTH[kind]) return refuseLength(capability, value)
  const decision = decideTarget(policy, question, capability, value)
  return capability === 'exec' && question.isUnsandboxed && decision.effect === 'allow'
    ? askUnsandboxed(decision)
    : decision
}

function decideTarget(
  policy: Policy,
  question: PolicyQuestion,
  capability: Capability,
  value?: string,
): DemandDecision {
  const kind = TARGET_KINDS[capability]
  if (kind === 'command' && value !== undefined) return decideCommand(policy, question, value)
  const target = kind === 'command' || value === undefined ? undefined : readTarget(kind, value)
  return describeJudgement(
    question,
    { capability, target: value },
    judgeDemand(policy, question, { capability, target }),
  )
}

/** Without a sandbox a command is never allowed without an approval, whatever the rules say. */
function askUnsandboxed(decision: DemandDecision): DemandDecision {
  return {
    ...decision,
    effect: 'ask',
    rule: 'default: without a sandbox every command asks',
    source: 'built in',
    layer: 'fallback',
    reason: `This machine has no sandbox for commands; ${decision.rule} would allow it in one.`,
    fix: { hint: 'Approve it when asked, or install a sandbox: `tool-hub doctor` says which.' },
  }
}

function refuseGrant(question: PolicyQuestion, capability: Capability, target: string | undefined): DemandDecision {
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

/** Comparing a target with patterns blocks the event loop, so a target that is too long is refused. */
function refuseLength(capability: Capability, target: string): DemandDecision {
  const limit = MAX_TARGET_LENGTH[TARGET_KINDS[capability]]
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

/** The requests of skills that are about a call, one line each. They inform a person and grant nothing. */
export function requestsFor(requests: readonly SkillRequest[], question: PolicyQuestion): string[] {
  return requests
    .filter((request) => touches(request, question))
    .map(({ skill, wants, reason }) => {
      return `skill ${skill} requests ${wants.join(', ')}${reason === undefined ? '' : `: ${reason}`}`
    })
}

function touches({ wants }: SkillRequest, { tool, names, groups, capabilities }: PolicyQuestion): boolean {
  const known = ['*', tool, ...names, ...groups, ...capabilities]
  return wants.some((want) => known.includes(want))
}
