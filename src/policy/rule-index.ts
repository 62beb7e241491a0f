import type { Capability } from '../core/index.ts'
import type { CompiledRule, PatternSet } from './compile-rule.ts'
import type { PolicyQuestion } from './question.ts'
import type { Pattern, PolicyTarget, TargetKind } from './target.ts'
import { normaliseName } from './tool-groups.ts'

/** One thing a call needs: a capability, on a target when it names one. */
export interface Demand {
  readonly capability?: Capability
  readonly target?: PolicyTarget
}

/** Rules filed so that finding those about a demand hardly depends on how many there are. */
export interface RuleIndex {
  readonly everything: Bucket
  readonly capabilities: ReadonlyMap<string, Bucket>
  /** By `group:…`, and what allows by tool name and dialect name. */
  readonly names: ReadonlyMap<string, Bucket>
  /** What restricts, by tool name and dialect name in lower case. */
  readonly foldedNames: ReadonlyMap<string, Bucket>
}

/** The rules of one subject: those about every target, and those `on` some, by the key of the pattern. */
interface Bucket {
  readonly general: CompiledRule[]
  readonly targeted: Map<TargetKind, Map<string, Filed[]>>
  /** Kinds of targets of which the owner allows some by name. */
  readonly allowsSome: Set<TargetKind>
}

interface Filed {
  readonly rule: CompiledRule
  readonly pattern: Pattern
}

/** Files the rules by subject, then by what their targets must have. */
export function indexRules(rules: readonly CompiledRule[]): RuleIndex {
  const index = { everything: emptyBucket(), capabilities: new Map(), names: new Map(), foldedNames: new Map() }
  for (const rule of rules) {
    const { kind, name, isToolToo } = rule.subject
    if (kind === 'any') file(index.everything, rule)
    if (kind === 'capability') file(bucketOf(index.capabilities, name), rule)
    if (kind === 'group' || (kind === 'tool' && rule.effect === 'allow')) file(bucketOf(index.names, name), rule)
    if (isToolToo || (kind === 'tool' && rule.effect !== 'allow')) file(bucketOf(index.foldedNames, name), rule)
  }
  return index
}

/** Calls `found` with every rule that matches the demand; a rule may be found more than once. */
export function findRules(
  index: RuleIndex,
  question: PolicyQuestion,
  demand: Demand,
  found: (rule: CompiledRule) => void,
): void {
  search(index.everything, question, demand, found)
  if (demand.capability !== undefined) search(index.capabilities.get(demand.capability), question, demand, found)
  if (index.names.size > 0) {
    for (const group of question.groups) search(index.names.get(group), question, demand, found)
    search(index.names.get(question.tool), question, demand, found)
    for (const name of question.names)
      if (name !== question.tool) search(index.names.get(name), question, demand, found)
  }
  if (index.foldedNames.size === 0) return
  for (const name of foldNames(question)) search(index.foldedNames.get(name), question, demand, found)
}

/** Whether the owner allows this subject some targets of the demand's kind, by name: then the others are not meant. */
export function allowsSome(
  index: RuleIndex,
  { tool, names, groups }: PolicyQuestion,
  { capability, target }: Demand,
): boolean {
  if (target === undefined || capability === undefined) return false
  const named = [tool, ...names, ...groups].map((name) => index.names.get(name))
  return [index.everything, index.capabilities.get(capability), ...named].some((bucket) =>
    bucket?.allowsSome.has(target.kind),
  )
}

/** The names of a tool stay the same list from call to call, so they are folded once. */
const folded = new WeakMap<readonly string[], readonly string[]>()

function foldNames({ tool, names }: PolicyQuestion): readonly string[] {
  if (!names.includes(tool)) return [tool, ...names].map(normaliseName)
  let known = folded.get(names)
  if (known === undefined) {
    known = [...new Set(names.map(normaliseName))]
    folded.set(names, known)
  }
  return known
}

function search(
  bucket: Bucket | undefined,
  question: PolicyQuestion,
  demand: Demand,
  found: (rule: CompiledRule) => void,
): void {
  if (bucket === undefined) return
  for (const rule of bucket.general) if (applies(rule, question, demand)) found(rule)
  const { target } = demand
  const filed = target && bucket.targeted.get(target.kind)
  if (!filed) return
  for (const key of target.keys) {
    for (const { rule, pattern } of filed.get(key) ?? []) {
      if (pattern.matches(target, rule.effect !== 'allow') && applies(rule, question, demand)) found(rule)
    }
  }
}

/** Everything about a rule but its subject and `on`. */
function applies(
  { when, about, except, effect }: CompiledRule,
  question: PolicyQuestion,
  { capability, target }: Demand,
): boolean {
  if (when?.tainted !== undefined && when.tainted !== question.tainted) return false
  if (when?.caller !== undefined && when.caller !== question.caller) return false
  if (about !== undefined && (capability === undefined || !about.has(capability))) return false
  if (except === undefined) return true
  // Nobody can tell whether an unnamed target is an exception: what permits does not apply, what restricts does.
  if (target === undefined) return effect !== 'allow'
  return !matchesAny(except, target, effect === 'allow')
}

function matchesAny(patterns: PatternSet, target: PolicyTarget, broadly: boolean): boolean {
  return patterns.get(target.kind)?.some((pattern) => pattern.matches(target, broadly)) ?? false
}

function file(bucket: Bucket, rule: CompiledRule): void {
  if (rule.on === undefined) {
    bucket.general.push(rule)
    return
  }
  for (const [kind, patterns] of rule.on) {
    const filed = bucket.targeted.get(kind) ?? new Map<string, Filed[]>()
    for (const pattern of patterns) {
      const sameKey = filed.get(pattern.key) ?? []
      sameKey.push({ rule, pattern })
      filed.set(pattern.key, sameKey)
    }
    if (filed.size > 0) bucket.targeted.set(kind, filed)
    if (patterns.length > 0 && rule.effect === 'allow' && rule.layer === 'owner') bucket.allowsSome.add(kind)
  }
}

function bucketOf(buckets: Map<string, Bucket>, name: string): Bucket {
  const bucket = buckets.get(name) ?? emptyBucket()
  buckets.set(name, bucket)
  return bucket
}

function emptyBucket(): Bucket {
  return { general: [], targeted: new Map(), allowsSome: new Set() }
}
