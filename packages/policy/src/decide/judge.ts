import type { Capability, Constraints, Effect } from '@tool-hub/core'
import { withStop } from '@tool-hub/core/lib'
import type { Bucket, Policy, RuleIndex } from '../compile-policy.ts'
import type { CompiledRule, PatternSet } from '../compile-rule.ts'
import { mergeConstraints, NO_CONSTRAINTS } from '../constraints.ts'
import { findUnproven } from '../evidence/index.ts'
import type { PolicyTarget } from '../match/index.ts'
import { BUILT_IN, type DemandDecision, type PolicyQuestion } from '../question.ts'
import { normaliseName } from '../visibility.ts'
import { describeNearest, findNearestRule, type NearestRule, NOTHING_TO_FIX, suggestFix } from './suggest-fix.ts'

/** One thing a call needs: a capability, on a target when it names one. */
export interface Demand {
  readonly capability?: Capability
  readonly target?: PolicyTarget
}

/** What the rules say about one demand. */
export interface Judgement {
  readonly effect: Effect
  /** The rule that decides; `undefined` if no rule is about the demand. */
  readonly rule?: CompiledRule
  /** The rule is a default, and the owner names other targets. */
  readonly isNarrowed?: boolean
  /** The owner's rule about other paths whose pattern begins most like this path. */
  readonly nearest?: NearestRule
  /** The rule asks because of content from outside: the arguments that nothing shows to come from the user. */
  readonly unproven?: readonly string[]
  /** Why the user's words do not account for them. */
  readonly why?: string
  /** An allow that would apply if it were not for one argument of the call. */
  readonly missed?: MissedRule
  readonly constraints: Constraints
}

/** A rule that an argument keeps from applying. */
interface MissedRule {
  readonly rule: CompiledRule
  /** The argument, as the rule names it. */
  readonly argument: string
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

/** The names of a tool stay the same list from call to call, so they are folded once. */
const folded = new WeakMap<readonly string[], readonly string[]>()

/** The first level with a rule about the demand decides it. */
export function judgeDemand(policy: Policy, question: PolicyQuestion, demand: Demand): Judgement {
  let judgement = judgeByRules(policy, question, demand)
  if (judgement.effect === 'ask' && judgement.rule?.when?.tainted && mayBeProven(question, demand)) {
    const { names: unproven, why } = findUnproven(question) ?? {}
    if (unproven !== undefined && unproven.length > 0) return { ...judgement, unproven, why }
    if (unproven) {
      // The content from outside makes no difference then; what asks or denies without it still does.
      const without = judgeByRules(policy, { ...question, tainted: false }, demand)
      if (without.effect === 'allow') return { ...without, rule: judgement.rule, unproven }
      judgement = without
    }
  }
  if (!policy.readsArguments || judgement.effect === 'allow') return judgement
  return { ...judgement, missed: findMissed(policy, question, demand) }
}

/** Deleting and running commands always ask, also for what the user has named. */
function mayBeProven({ mayDestroy }: PolicyQuestion, { capability }: Demand): boolean {
  return !mayDestroy && capability !== 'danger:destructive' && capability !== 'exec'
}

function judgeByRules({ levels }: Policy, question: PolicyQuestion, demand: Demand): Judgement {
  for (const level of levels) {
    const choice = pickRule(level, question, demand)
    if (choice === undefined) continue
    const { rule, constraints } = choice
    // A default allows everything of its kind; an owner who allows some targets by name does not mean all the others.
    const isNarrowed =
      rule.layer === 'defaults' && rule.effect === 'allow' && levels.some((each) => allowsSome(each, question, demand))
    if (!isNarrowed) return { effect: rule.effect, rule, constraints }
    const buckets = levels.flatMap((each) => bucketsOf(each, question, demand.capability))
    const nearest = findNearestRule(buckets, demand.target)
    return { effect: 'ask', rule, isNarrowed, nearest, constraints: NO_CONSTRAINTS }
  }
  const isOpen = demand.capability === undefined && !levels.some((each) => allowsSome(each, question, demand))
  return { effect: isOpen ? 'allow' : 'ask', constraints: NO_CONSTRAINTS }
}

/** A judgement as a decision, with its rule, reason and fix. */
export function describeJudgement(
  policy: Policy,
  question: PolicyQuestion,
  need: Need,
  { effect, rule, constraints, isNarrowed, nearest, missed, unproven, why }: Judgement,
): DemandDecision {
  const { capability, target } = need
  const isPure = capability === undefined
  const because = missed ? ` The argument ${missed.argument} does not match ${missed.rule.text}.` : ''
  const builtIn = (verdict: Pick<DemandDecision, 'effect' | 'rule' | 'reason' | 'fix'>): DemandDecision => {
    return { capability, target, ...BUILT_IN, ...verdict, constraints }
  }
  if (isNarrowed || (rule === undefined && isPure && effect === 'ask'))
    return builtIn({
      effect: 'ask',
      rule: 'default: where your rules allow some targets, others are asked',
      reason:
        missed || rule === undefined
          ? `Your rules allow ${question.tool} with other arguments, not with these.${because}`
          : `Your rules allow ${capability} on other targets, not on this one.${describeNearest(nearest)}`,
      fix: suggestFix(policy, question, need, undefined),
    })
  if (rule === undefined && isPure)
    return builtIn({
      effect: 'allow',
      rule: 'default: a pure tool runs',
      reason: 'It declares no capabilities, so it gets no handle to anything outside.',
      fix: NOTHING_TO_FIX,
    })
  if (rule === undefined)
    return builtIn({
      effect: 'ask',
      rule: 'default: a tool with capabilities asks',
      reason: `No rule is about ${capability}${target === undefined ? '' : ' on this target'}.${because}`,
      fix: suggestFix(policy, question, need, undefined),
    })
  const { text, source, layer, reason } = rule
  if (unproven?.length === 0)
    return builtIn({
      effect,
      rule: 'default: its values come from the user or were approved',
      reason: `${text} asks, but the user asked for everything that this call chooses, or a person approved it before.`,
      fix: NOTHING_TO_FIX,
    })
  const notShown = unproven ? ` Nothing shows that the user chose ${unproven.join(', ')}. ${why}` : ''
  const more = effect === 'ask' ? because + notShown : ''
  return {
    capability,
    target,
    effect,
    rule: text,
    source,
    layer,
    reason: more === '' ? reason : withStop(reason) + more,
    unproven,
    fix: effect === 'allow' ? NOTHING_TO_FIX : suggestFix(policy, question, need, rule),
    constraints,
  }
}

/** The rule that decides a demand, and the constraints of all equally specific rules that match. */
interface Choice {
  readonly rule: CompiledRule
  readonly constraints: Constraints
}

/** Picks a matching deny, or else the most specific rule; of equally specific rules the stricter. */
function pickRule(index: RuleIndex, question: PolicyQuestion, demand: Demand): Choice | undefined {
  let denial: CompiledRule | undefined
  let best: CompiledRule | undefined
  let constraints = NO_CONSTRAINTS
  for (const rule of findRules(index, question, demand)) {
    if (rule.effect === 'deny') {
      if (denial === undefined || comesBefore(rule, denial)) denial = rule
      continue
    }
    if (best !== undefined && rule.specificity < best.specificity) continue
    const isTie = rule.specificity === best?.specificity
    constraints = isTie ? mergeConstraints(constraints, rule.limit) : (rule.limit ?? NO_CONSTRAINTS)
    if (best === undefined || !isTie || isStricter(rule, best)) best = rule
  }
  if (denial !== undefined) return { rule: denial, constraints: NO_CONSTRAINTS }
  return best && { rule: best, constraints }
}

function isStricter(rule: CompiledRule, than: CompiledRule): boolean {
  return rule.effect === than.effect ? comesBefore(rule, than) : rule.effect === 'ask'
}

/** Which of two rules with the same effect is named: the one that cannot be overridden, then the one written first. */
function comesBefore(a: CompiledRule, b: CompiledRule): boolean {
  return a.layer === b.layer ? a.order < b.order : a.layer === 'always'
}

/** Every rule that matches the demand; one with several patterns may be there more than once. */
export function findRules(index: RuleIndex, question: PolicyQuestion, demand: Demand): CompiledRule[] {
  const found: CompiledRule[] = []
  const { target } = demand
  for (const { general, targeted } of bucketsOf(index, question, demand.capability)) {
    for (const rule of general) if (applies(rule, question, demand)) found.push(rule)
    const filed = target && targeted.get(target.kind)
    if (!filed) continue
    for (const key of target.keys) {
      for (const { rule, pattern } of filed.get(key) ?? []) {
        if (pattern.matches(target, rule.effect !== 'allow') && applies(rule, question, demand)) found.push(rule)
      }
    }
  }
  return found
}

/** What the rules say about files of one folder. */
export interface FolderRules {
  /** The rules that match every file of the folder by its place. */
  readonly trees: readonly CompiledRule[]
  /** Whether no other rule is about a file: all such files have the same decision, in any folder with the same `trees`. */
  readonly isAlike: (name: string) => boolean
}

/** Prepares the rules for questions about many files of many folders. */
export function rulesByFolder(
  { levels }: Policy,
  question: PolicyQuestion,
  capability: Capability,
): (folder: PolicyTarget) => FolderRules {
  const buckets = levels.flatMap((level) => bucketsOf(level, question, capability))
  const filedRules = buckets.flatMap(({ targeted }) => targeted.get('path') ?? [])
  const hasExceptions = ({ except }: CompiledRule) => except !== undefined
  const isUnsure = buckets.some(({ general }) => general.some(hasExceptions))
  const names = new Set<string>()
  const foldersOfNamed = new Set<string>()
  for (const key of filedRules.flatMap((filed) => [...filed.keys()])) {
    if (key.startsWith('/')) foldersOfNamed.add(key.slice(0, key.lastIndexOf('/')) || '/')
    else names.add(key)
  }
  return ({ keys, value }) => {
    const hasNamed = foldersOfNamed.has(value)
    const found = filedRules.flatMap((filed) => keys.flatMap((key) => filed.get(key) ?? []))
    const trees = found.flatMap(({ rule, pattern }) => (pattern.isTree ? [rule] : []))
    const others = found.flatMap(({ pattern }) => (pattern.isTree ? [] : [pattern.nameEnds]))
    if (isUnsure || others.includes(undefined) || found.some(({ rule }) => hasExceptions(rule)))
      return { trees, isAlike: () => false }
    return {
      trees,
      isAlike(name) {
        for (const ends of others) if (name.startsWith(ends![0]) && name.endsWith(ends![1])) return false
        // The keys that the path has in addition to those of its folder.
        const dot = name.lastIndexOf('.')
        if (names.has(name) || (dot !== -1 && names.has(`*${name.slice(dot)}`))) return false
        return !hasNamed || !filedRules.some((filed) => filed.has(`${value === '/' ? '' : value}/${name}`))
      },
    }
  }
}

/** Finds an allow about arguments that applies to this call but for one of them. */
function findMissed({ levels }: Policy, question: PolicyQuestion, demand: Demand): MissedRule | undefined {
  const { arguments: given } = question
  if (given === undefined) return undefined
  for (const level of levels) {
    for (const { general, readsArguments } of bucketsOf(level, question, demand.capability)) {
      for (const rule of readsArguments ? general : []) {
        if (rule.effect !== 'allow' || !rule.where || !applies({ ...rule, where: undefined }, question, demand))
          continue
        const argument = rule.where.mismatch(given)
        if (argument !== undefined) return { rule, argument }
      }
    }
  }
  return undefined
}

/** Whether a rule about this call looks at its arguments: then a decision holds for these arguments alone. */
export function readsArguments({ levels }: Policy, question: PolicyQuestion): boolean {
  const reads = (bucket: Bucket) => bucket.readsArguments
  return levels.some(
    (level) =>
      bucketsOf(level, question, undefined).some(reads) ||
      question.capabilities.some((capability) => level.capabilities.get(capability)?.readsArguments),
  )
}

/** Whether the owner allows this subject some targets by name, or some arguments, and so not the others. */
function allowsSome(index: RuleIndex, question: PolicyQuestion, { capability, target }: Demand): boolean {
  return bucketsOf(index, question, capability).some(
    (bucket) => bucket.allowsSomeArguments || (target !== undefined && bucket.allowsSome.has(target.kind)),
  )
}

/** The rules whose subject the call has. */
function bucketsOf(index: RuleIndex, question: PolicyQuestion, capability: Capability | undefined): Bucket[] {
  const { everything, capabilities, names, foldedNames, also } = index
  const buckets = also === undefined ? [] : bucketsOf(also, question, capability)
  buckets.push(everything)
  if (capability !== undefined) addBucket(buckets, capabilities.get(capability))
  if (names.size > 0) {
    for (const group of question.groups) addBucket(buckets, names.get(group))
    addBucket(buckets, names.get(question.tool))
    for (const name of question.names) if (name !== question.tool) addBucket(buckets, names.get(name))
  }
  if (foldedNames.size > 0) for (const name of foldNames(question)) addBucket(buckets, foldedNames.get(name))
  return buckets
}

function addBucket(buckets: Bucket[], bucket: Bucket | undefined): void {
  if (bucket !== undefined) buckets.push(bucket)
}

function foldNames({ tool, names }: PolicyQuestion): readonly string[] {
  if (!names.includes(tool)) return [tool, ...names].map(normaliseName)
  let known = folded.get(names)
  if (known === undefined) {
    known = [...new Set(names.map(normaliseName))]
    folded.set(names, known)
  }
  return known
}

/** Whether the conditions of a rule hold, apart from `on` and a subject that the index has found. */
function applies(
  { subject, when, where, about, except, effect }: CompiledRule,
  question: PolicyQuestion,
  { capability, target }: Demand,
): boolean {
  if (when?.tainted !== undefined && when.tainted !== question.tainted) return false
  if (when?.caller !== undefined && when.caller !== question.caller) return false
  if (subject.matches !== undefined && ![question.tool, ...question.names].some(subject.matches)) return false
  if (about !== undefined && (capability === undefined || !about.has(capability))) return false
  // Arguments that are not known here cannot be read: what permits does not apply, what restricts does.
  if (where !== undefined && question.arguments === undefined && effect === 'allow') return false
  if (where !== undefined && question.arguments && where.mismatch(question.arguments) !== undefined) return false
  if (except === undefined) return true
  // Whether an unnamed target is an exception is unknown: what permits does not apply, what restricts does.
  if (target === undefined) return effect !== 'allow'
  return !matchesAny(except, target, effect === 'allow')
}

function matchesAny(patterns: PatternSet, target: PolicyTarget, broadly: boolean): boolean {
  return patterns.get(target.kind)?.some((pattern) => pattern.matches(target, broadly)) ?? false
}
