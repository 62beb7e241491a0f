import type { Capability, Effect, SkillRequest } from '@tool-hub/core'
import type { Policy } from '../compile-policy.ts'
import { mergeConstraints, NO_CONSTRAINTS } from '../constraints.ts'
import { MAX_TARGET_LENGTH, readPath, readTarget, TARGET_KINDS } from '../match/index.ts'
import { BUILT_IN, type Decision, type DemandDecision, type PolicyQuestion, STRICTNESS } from '../question.ts'
import { decideCommand } from './decide-command.ts'
import { describeJudgement, type FolderRules, judgeDemand, readsArguments, rulesByFolder } from './judge.ts'

const MAX_REMEMBERED = 1_000

/** The last answer about each tool, for callers and untrusted content apart: calls often repeat a question. */
type DecisionMemory = readonly Map<string, { readonly question: PolicyQuestion; readonly decision: Decision }>[]

const memories = new WeakMap<Policy, DecisionMemory>()

/** Decides whether a call may happen. Within an outer policy the stricter of both decisions holds. */
export function decide(policy: Policy, question: PolicyQuestion): Decision {
  const own = decideAlone(policy, question)
  return policy.within ? stricter(own, decide(policy.within, question)) : own
}

/**
 * Returns, for a folder, a quick test of its files: true if they are allowed by a decision that they share. Hardly a rule
 * distinguishes the files of a folder, or one folder from the next. False says nothing: such a file is decided alone.
 */
export function allowFiles(
  policy: Policy,
  question: PolicyQuestion,
  capability: Capability,
): (folder: string) => (name: string) => boolean {
  const rulesOf: ReturnType<typeof rulesByFolder>[] = []
  for (let at: Policy | undefined = policy; at; at = at.within) rulesOf.push(rulesByFolder(at, question, capability))
  let last: readonly FolderRules[] = []
  let shared: Effect | undefined
  return (folder) => {
    const target = readPath(folder)
    const rules = rulesOf.map((find) => find(target))
    if (!rules.every(({ trees }, index) => isSameList(trees, last[index]?.trees ?? []))) shared = undefined
    last = rules
    const above = folder === '/' ? folder : `${folder}/`
    return (name) => {
      if (above.length + name.length > MAX_TARGET_LENGTH.path) return false
      for (const { isAlike } of rules) if (!isAlike(name)) return false
      if (shared === undefined) {
        const targets = [{ capability, value: above + name }]
        shared = decide(policy, { ...question, capabilities: [capability], targets }).effect
      }
      return shared === 'allow'
    }
  }
}

/** The stricter of two decisions, under the bounds of both. */
function stricter(own: Decision, outer: Decision): Decision {
  const decision = STRICTNESS[outer.effect] > STRICTNESS[own.effect] ? outer : own
  return { ...decision, constraints: mergeConstraints(own.constraints, outer.constraints) }
}

/** Answers a repeated question from memory; one with grants, several targets, a command or rules about arguments is always decided. */
function decideAlone(policy: Policy, question: PolicyQuestion): Decision {
  const { tool, targets, grants, caller, tainted } = question
  const isRepeatable =
    grants === undefined && (targets.length === 0 || (targets.length === 1 && targets[0]!.capability !== 'exec'))
  const { hasUserText = false } = question.arguments?.evidence ?? {}
  if (!isRepeatable || (tainted && hasUserText) || (policy.readsArguments && readsArguments(policy, question)))
    return decideDemands(policy, question)
  const answers = memoryOf(policy)[(caller === 'script' ? 1 : 0) + (tainted ? 2 : 0)]!
  const known = answers.get(tool)
  if (known !== undefined && isSameQuestion(known.question, question)) return known.decision
  const decision = decideDemands(policy, question)
  if (known === undefined && answers.size >= MAX_REMEMBERED) answers.delete(answers.keys().next().value ?? '')
  // Without the arguments, which may be large: no rule has looked at them.
  answers.set(tool, { question: { ...question, arguments: undefined }, decision })
  return decision
}

function memoryOf(policy: Policy): DecisionMemory {
  const known = memories.get(policy)
  if (known !== undefined) return known
  const memory = Array.from({ length: 4 }, () => new Map())
  memories.set(policy, memory)
  return memory
}

/** Decides every demand of the call by itself; the strictest decision holds. */
function decideDemands(policy: Policy, question: PolicyQuestion): Decision {
  const demands = demandsOf(question).map((need) => decideDemand(policy, question, need))
  let strictest = demands[0]!
  let constraints = NO_CONSTRAINTS
  for (const demand of demands) {
    if (STRICTNESS[demand.effect] > STRICTNESS[strictest.effect]) strictest = demand
    constraints = mergeConstraints(constraints, demand.constraints)
  }
  const { effect, rule, source, layer, reason, fix, part, unproven } = strictest
  const requests = requestsFor(policy.requests, question)
  return { effect, rule, source, layer, reason, fix, part, unproven, constraints, demands, requests }
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

function decideDemand(policy: Policy, question: PolicyQuestion, need: Need): DemandDecision {
  const { capability, target } = need
  if (capability === undefined) return describeJudgement(policy, question, need, judgeDemand(policy, question, {}))
  if (question.grants?.includes(capability) === false) return refuseGrant(question, capability, target)
  const kind = TARGET_KINDS[capability]
  if (target !== undefined && target.length > MAX_TARGET_LENGTH[kind]) return refuseLength(capability, target)
  if (kind === 'command') {
    const decision =
      target === undefined
        ? describeJudgement(policy, question, need, judgeDemand(policy, question, { capability }))
        : decideCommand(policy, question, target)
    return question.isUnsandboxed && decision.effect === 'allow' ? askUnsandboxed(decision) : decision
  }
  const read = target === undefined ? undefined : readTarget(kind, target)
  return describeJudgement(policy, question, need, judgeDemand(policy, question, { capability, target: read }))
}

/** Without a sandbox a command is never allowed without an approval, whatever the rules say. */
function askUnsandboxed(decision: DemandDecision): DemandDecision {
  return {
    ...decision,
    effect: 'ask',
    rule: 'default: without a sandbox every command asks',
    ...BUILT_IN,
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
    ...BUILT_IN,
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

/** A tool may be replaced by another of the same name, and the sandbox may go away: then the old answer does not count. */
function isSameQuestion(a: PolicyQuestion, b: PolicyQuestion): boolean {
  return (
    a.isUnsandboxed === b.isUnsandboxed &&
    a.targets[0]?.value === b.targets[0]?.value &&
    a.targets[0]?.capability === b.targets[0]?.capability &&
    isSameList(a.names, b.names) &&
    isSameList(a.groups, b.groups) &&
    isSameList(a.capabilities, b.capabilities)
  )
}

function isSameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a === b || (a.length === b.length && a.every((item, index) => item === b[index]))
}
