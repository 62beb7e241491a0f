import type { SkillRequest, SourcedRule } from '@tool-hub/core'
import { type CompiledRule, compileRule, type PatternSet } from './compile-rule.ts'
import type { Pattern, TargetKind } from './match/index.ts'
import type { Layer } from './question.ts'

/** The layers of a policy, by who wrote their rules. */
export interface PolicyLayers {
  /** Denials of the runtime and constraints of the sandbox: only deny rules. */
  readonly always?: readonly SourcedRule[]
  /** Config and code of the owner. */
  readonly owner?: readonly SourcedRule[]
  /** Shipped rules, for demands that no rule of the owner matches. */
  readonly defaults?: readonly SourcedRule[]
  /** Requests of skills: listed with a decision, never part of it. */
  readonly requests?: readonly SkillRequest[]
  /** What `~` means in patterns. */
  readonly home?: string
  /** Where the owner adds rules, as fixes name it. Default: `policy in tool-hub.yaml`. */
  readonly place?: string
}

/** Compiled layers; opaque, for `decide`. */
export interface Policy {
  /** Consulted in order: the first index with a matching rule decides. */
  readonly levels: readonly RuleIndex[]
  readonly requests: readonly SkillRequest[]
  /** Some rule restricts some commands: what a command hides could be one of those. */
  readonly restrictsCommands: boolean
  /** Some rule looks at the arguments of calls. */
  readonly readsArguments: boolean
  /** Some rule looks for values that were approved before; for nested policies, a rule of any. */
  readonly readsApprovals: boolean
  /** Where the owner adds rules, as fixes name it. */
  readonly place: string
  /** An outer policy, which must allow the call as well. */
  readonly within?: Policy
  /** The same with one more rule of the owner, to try what it would do. */
  readonly withRule: (rule: SourcedRule) => Policy
}

/** Rules by subject and target, so that the cost of a decision hardly depends on how many there are. */
export interface RuleIndex {
  readonly everything: Bucket
  readonly capabilities: ReadonlyMap<string, Bucket>
  /** By `group:…`, and what allows by tool name and dialect name. */
  readonly names: ReadonlyMap<string, Bucket>
  /** What restricts, by tool name and dialect name in lower case. */
  readonly foldedNames: ReadonlyMap<string, Bucket>
  /** More rules of the same level: one that is tried needs no new index of all the others. */
  readonly also?: RuleIndex
}

/** The rules of one subject: those about every target, and those `on` some, by the key of the pattern. */
export interface Bucket {
  readonly general: CompiledRule[]
  readonly targeted: Map<TargetKind, Map<string, Filed[]>>
  /** Kinds of targets of which the owner allows some by name. */
  readonly allowsSome: Set<TargetKind>
  /** Whether the owner allows calls with some arguments, and so not the others. */
  allowsSomeArguments: boolean
  /** Whether a rule looks at arguments. */
  readsArguments: boolean
}

interface Filed {
  readonly rule: CompiledRule
  readonly pattern: Pattern
}

/** Checks and indexes all layers; a broken rule or pattern is CONFIG_INVALID. */
export function compilePolicy({
  always = [],
  owner = [],
  defaults = [],
  requests = [],
  home,
  place = 'policy in tool-hub.yaml',
}: PolicyLayers): Policy {
  const own = compileLayer(owner, 'owner', home)
  const strict = compileLayer(always, 'always', home)
  const shipped = compileLayer(defaults, 'defaults', home)
  const [first, ...others] = [
    [...strict, ...own.filter(({ isFallback }) => !isFallback)],
    own.filter(({ isFallback }) => isFallback),
    shipped.filter(({ isFallback }) => !isFallback),
    shipped.filter(({ isFallback }) => isFallback),
  ].map((rules) => (rules.length === 0 ? undefined : indexRules(rules)))
  return fromLevels(
    first,
    others.filter((level) => level !== undefined),
    requests,
    { ...traitsOf([...strict, ...own, ...shipped]), place },
    (rule) => compileRule(rule, { layer: 'owner', order: own.length, home }),
  )
}

/** `first` has the denials that always hold and the rules of the owner, apart from their fallbacks. */
function fromLevels(
  first: RuleIndex | undefined,
  others: readonly RuleIndex[],
  requests: readonly SkillRequest[],
  traits: RuleTraits & Pick<Policy, 'place'>,
  compile: (rule: SourcedRule) => CompiledRule,
): Policy {
  return {
    levels: first === undefined ? others : [first, ...others],
    requests,
    ...traits,
    withRule(sourced) {
      const rule = compile(sourced)
      const added = { ...indexRules([rule]), also: first }
      return fromLevels(added, others, requests, { ...traits, ...traitsOf([rule], traits) }, compile)
    },
  }
}

/** What some of the rules do. */
type RuleTraits = Pick<Policy, 'restrictsCommands' | 'readsArguments' | 'readsApprovals'>

function traitsOf(rules: readonly CompiledRule[], others?: RuleTraits): RuleTraits {
  return {
    restrictsCommands: others?.restrictsCommands || rules.some(restrictsCommands),
    readsArguments: others?.readsArguments || rules.some(({ where }) => where !== undefined),
    readsApprovals: others?.readsApprovals || rules.some(({ where }) => where?.readsApprovals),
  }
}

function restrictsCommands({ effect, on, except }: CompiledRule): boolean {
  const names = (patterns: PatternSet | undefined) => (patterns?.get('command')?.length ?? 0) > 0
  return names(except) || (effect !== 'allow' && names(on))
}

/** Sorts rules by where they are written, so that the order they are passed in changes nothing. */
function compileLayer(rules: readonly SourcedRule[], layer: Layer, home: string | undefined): CompiledRule[] {
  return rules
    .map((rule) => ({ rule, key: JSON.stringify(rule) }))
    .sort((a, b) => compareSources(a.rule, b.rule) || (a.key < b.key ? -1 : 1))
    .map(({ rule }, order) => compileRule(rule, { layer, order, home }))
}

function compareSources({ source: a }: SourcedRule, { source: b }: SourcedRule): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1
  return (a.line ?? 0) - (b.line ?? 0)
}

/** Files the rules by subject, then by what their targets must have. */
function indexRules(rules: readonly CompiledRule[]): RuleIndex {
  const index = { everything: emptyBucket(), capabilities: new Map(), names: new Map(), foldedNames: new Map() }
  for (const rule of rules) {
    const { kind, name, isToolToo } = rule.subject
    if (kind === 'any' || kind === 'tools') file(index.everything, rule)
    if (kind === 'capability') file(bucketOf(index.capabilities, name), rule)
    if (kind === 'group' || (kind === 'tool' && rule.effect === 'allow')) file(bucketOf(index.names, name), rule)
    if (isToolToo || (kind === 'tool' && rule.effect !== 'allow')) file(bucketOf(index.foldedNames, name), rule)
  }
  return index
}

function file(bucket: Bucket, rule: CompiledRule): void {
  if (rule.where) bucket.readsArguments = true
  const isOwners = rule.effect === 'allow' && rule.layer === 'owner' && rule.subject.kind !== 'tools'
  if (rule.where && isOwners) bucket.allowsSomeArguments = true
  if (rule.on === undefined) {
    bucket.general.push(rule)
    return
  }
  for (const [kind, patterns] of rule.on) {
    const filed = bucket.targeted.get(kind) ?? new Map<string, Filed[]>()
    for (const pattern of patterns) {
      const key = rule.effect === 'allow' ? (pattern.exactKey ?? pattern.key) : pattern.key
      const sameKey = filed.get(key)
      if (sameKey === undefined) filed.set(key, [{ rule, pattern }])
      else sameKey.push({ rule, pattern })
    }
    if (filed.size > 0) bucket.targeted.set(kind, filed)
    if (patterns.length > 0 && isOwners) bucket.allowsSome.add(kind)
  }
}

function bucketOf(buckets: Map<string, Bucket>, name: string): Bucket {
  const bucket = buckets.get(name) ?? emptyBucket()
  buckets.set(name, bucket)
  return bucket
}

function emptyBucket(): Bucket {
  return {
    general: [],
    targeted: new Map(),
    allowsSome: new Set(),
    allowsSomeArguments: false,
    readsArguments: false,
  }
}
