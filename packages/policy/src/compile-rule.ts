import {
  CAPABILITIES,
  type Capability,
  type Constraints,
  didYouMean,
  type Effect,
  type Rule,
  type RuleCondition,
  type SourcedRule,
  ToolError,
} from '@tool-hub/core'
import { boundsOf, LIMIT_KEYS } from './constraints.ts'
import { describeRule, describeSource, effectOf, subjectOf } from './describe.ts'
import { COMMAND_GROUPS, compilePattern, type Pattern, TARGET_KINDS, type TargetKind } from './match/index.ts'
import type { Layer } from './question.ts'
import { normaliseName } from './visibility.ts'
import { type CompiledWhere, compileWhere } from './where.ts'

/** What the verb of a rule is about. */
export interface Subject {
  readonly kind: 'any' | 'group' | 'capability' | 'tools' | 'tool'
  /** In lower case for a group, and for all that a deny or an ask is about. */
  readonly name: string
  /** Whether a name of a tool is meant; only for a subject that ends in `*`. */
  readonly matches?: (name: string) => boolean
  /** The word is a capability, and a tool that is called so is meant too. */
  readonly isToolToo?: boolean
}

/** Patterns by the kind of target they are compared with. */
export type PatternSet = ReadonlyMap<TargetKind, readonly Pattern[]>

/** A rule ready to be compared with calls. */
export interface CompiledRule {
  readonly effect: Effect
  readonly subject: Subject
  readonly layer: Layer
  /** Its position in its layer. */
  readonly order: number
  readonly isFallback: boolean
  /** `where` counts most, then `on`, then a tool, then a group or a capability, then `*`. */
  readonly specificity: number
  readonly on?: PatternSet
  readonly except?: PatternSet
  readonly where?: CompiledWhere
  readonly about?: ReadonlySet<Capability>
  readonly when?: RuleCondition
  readonly limit?: Constraints
  readonly text: string
  readonly source: string
  readonly reason: string
  readonly remedy?: string
}

interface RulePlace {
  readonly layer: Layer
  readonly order: number
  readonly home?: string
}

const ALL_KINDS: readonly TargetKind[] = [...new Set(Object.values(TARGET_KINDS))]
const SUBJECT_RANK = { any: 0, group: 1, capability: 1, tools: 2, tool: 3 } as const
const OUTCOMES = { allow: 'Allowed', ask: 'Needs an approval', deny: 'Denied' } as const

const VERBS = ['allow', 'ask', 'deny'] as const
const RULE_KEYS = [...VERBS, 'on', 'except', 'where', 'when', 'reason', 'limit']
const WHEN_KEYS = ['tainted', 'caller']

/** Checks and compiles one rule; a rule that cannot mean what it says is CONFIG_INVALID. */
export function compileRule(sourced: SourcedRule, { layer, order, home }: RulePlace): CompiledRule {
  checkRuleShape(sourced)
  const { rule, source } = sourced
  const effect = effectOf(rule)
  const text = describeRule(sourced)
  if (layer === 'always' && effect !== 'deny') {
    throw new ToolError('CONFIG_INVALID', `${text} stands in the always layer, which may only deny.`, {
      hint: 'Move it to policy.',
    })
  }
  const subject = readSubject(subjectOf(rule), effect)
  const kinds = kindsOf(subject, sourced.about)
  return {
    effect,
    subject,
    layer,
    order,
    isFallback: sourced.fallback === true,
    specificity: specificityOf(subject, rule),
    on: rule.on === undefined ? undefined : compilePatterns(rule.on, kinds, sourced, home),
    except: rule.except === undefined ? undefined : compilePatterns(rule.except, kinds, sourced, home),
    where: rule.where === undefined ? undefined : compileArguments(sourced, effect),
    about: sourced.about && new Set(sourced.about),
    when: rule.when,
    limit: rule.limit,
    text,
    source: describeSource(source),
    reason: rule.reason ?? `${OUTCOMES[effect]} by ${text}.`,
    remedy: sourced.remedy,
  }
}

/** How specific a rule is: whether it has `where` counts before `on`, and both before what its subject is. */
export function specificityOf(subject: Subject, { on, where }: Pick<Rule, 'on' | 'where'>): number {
  return (where === undefined ? 0 : 20) + (on === undefined ? 0 : 10) + SUBJECT_RANK[subject.kind]
}

function compileArguments(sourced: SourcedRule, effect: Effect): CompiledWhere {
  const compiled = compileWhere(sourced.rule.where!, effect)
  if (!('broken' in compiled)) return compiled
  throw new ToolError('CONFIG_INVALID', `${describeRule(sourced)}: ${compiled.broken}.`, {
    hint: 'Write where: { recipient: "*@example.org", amount: { max: 100 } }; from-user and approved-before ask for evidence.',
  })
}

/**
 * A capability word always means the capability, also where a dialect (`exec`) has the same name. What restricts holds
 * whatever the case of its subject, so that no deny fails because of a capital letter; an allow of a tool or a capability
 * is exact, so that no tool gets it by a similar name. Groups have no case.
 */
export function readSubject(written: string, effect: Effect): Subject {
  if (written === '*') return { kind: 'any', name: written }
  const folded = normaliseName(written)
  if (folded.startsWith('group:')) return { kind: 'group', name: folded }
  const name = effect === 'allow' ? written : folded
  if (name.endsWith('*')) return readToolGlob(name, effect)
  if (!isCapability(name)) return { kind: 'tool', name }
  // A tool that is called exec must not slip past `deny: exec`, and `ask: Memory` may mean either.
  return { kind: 'capability', name, isToolToo: effect === 'deny' || name !== written }
}

/** All tools whose name begins so: `mcp/shop.*`. */
function readToolGlob(name: string, effect: Effect): Subject {
  const start = name.slice(0, -1)
  const matches = (tool: string) => (effect === 'allow' ? tool : normaliseName(tool)).startsWith(start)
  return { kind: 'tools', name, matches }
}

function isCapability(name: string): name is Capability {
  return (CAPABILITIES as readonly string[]).includes(name)
}

/** The kinds of target that a rule can be about. */
function kindsOf({ name }: Subject, about: readonly Capability[] | undefined): readonly TargetKind[] {
  if (isCapability(name)) return [TARGET_KINDS[name]]
  return about ? [...new Set(about.map((capability) => TARGET_KINDS[capability]))] : ALL_KINDS
}

/**
 * A pattern must make sense for one kind of target at least; for the others it matches nothing. That it could be any
 * text does not count where other kinds are possible: `~bob/x` would pass, and never match the path it means.
 */
function compilePatterns(
  texts: string | readonly string[],
  kinds: readonly TargetKind[],
  sourced: SourcedRule,
  home: string | undefined,
): PatternSet {
  const patterns = new Map<TargetKind, Pattern[]>(kinds.map((kind) => [kind, []]))
  const judges = kinds.length === 1 ? kinds : kinds.filter((kind) => kind !== 'text')
  for (const text of [texts].flat().flatMap((each) => patternsOf(each, kinds))) {
    const broken = new Map<TargetKind, string>()
    for (const kind of kinds) {
      const pattern = compilePattern(kind, text, { base: sourced.base, home, isGrant: sourced.source.file === 'grant' })
      if ('broken' in pattern) broken.set(kind, pattern.broken)
      else patterns.get(kind)?.push(pattern)
    }
    if (!judges.every((kind) => broken.has(kind))) continue
    throw new ToolError(
      'CONFIG_INVALID',
      `${describeRule(sourced)}: the pattern ${JSON.stringify(text)} cannot be used: ${[...broken.values()][0]}.`,
      {
        hint: `Correct the pattern in ${describeSource(sourced.source)}.`,
      },
    )
  }
  return patterns
}

/** The patterns of a group of commands, where a rule can meet commands; any other text stands for itself. */
function patternsOf(text: string, kinds: readonly TargetKind[]): readonly string[] {
  const group = kinds.includes('command') ? COMMAND_GROUPS.get(text.toLowerCase()) : undefined
  return group ?? [text]
}

/** Refuses a rule that is not of the documented form: rules also come from code without types. */
function checkRuleShape({ rule, source, base, about }: SourcedRule): void {
  const where = `The rule at ${describeSource(source)}`
  if (!isObject(rule)) refuse(where, 'is not an object', 'Write { allow: "network", on: "https://api.github.com/**" }.')
  refuseUnknownKeys(rule, RULE_KEYS, () => where)
  const verbs = VERBS.filter((verb) => rule[verb] !== undefined)
  const subject = verbs.length === 1 ? rule[verbs[0]!] : undefined
  if (typeof subject !== 'string' || subject.trim() === '') {
    refuse(
      where,
      'needs exactly one of allow, ask, deny with a subject',
      'Subject: a tool, a dialect name, group:fs, a capability, "*".',
    )
  }
  if (!base.startsWith('/')) refuse(where, `has the base ${JSON.stringify(base)}`, 'Give an absolute folder as base.')
  for (const patterns of [rule.on, rule.except]) {
    const isFine = patterns === undefined || ([patterns].flat().length > 0 && [patterns].flat().every(isText))
    if (!isFine) refuse(where, 'has on or except without patterns', 'Give at least one pattern, or leave the key out.')
  }
  if (about !== undefined && !(about.length > 0 && about.every((name) => CAPABILITIES.includes(name)))) {
    refuse(where, 'is about capabilities that do not exist', `Capabilities: ${CAPABILITIES.join(', ')}.`)
  }
  if (rule.where !== undefined && !isObject(rule.where))
    refuse(where, 'has a where that is not an object', 'Write where: { recipient: "*@example.org" }.')
  checkWhen(rule.when, where)
  checkLimit(rule.limit, where)
}

function checkWhen(when: unknown, where: string): void {
  if (when === undefined) return
  if (!isObject(when)) refuse(where, 'has a when that is not an object', 'Write when: { tainted: true }.')
  refuseUnknownKeys(when, WHEN_KEYS, () => `${where}, when`)
  const { tainted, caller } = when as Record<string, unknown>
  if (tainted !== undefined && typeof tainted !== 'boolean')
    refuse(where, 'has a when.tainted that is not true or false', 'Write true or false.')
  if (caller !== undefined && caller !== 'direct' && caller !== 'script')
    refuse(where, 'has an unknown when.caller', 'Write direct or script.')
}

function checkLimit(limit: unknown, where: string): void {
  if (limit === undefined) return
  if (!isObject(limit)) refuse(where, 'has a limit that is not an object', 'Write limit: { maxBytes: 1000000 }.')
  refuseUnknownKeys(limit, LIMIT_KEYS, () => `${where}, limit`)
  for (const [key, value] of Object.entries(boundsOf(limit, where))) {
    if (value === undefined || (Number.isSafeInteger(value) && (value as number) >= 0)) continue
    refuse(where, `has limit.${key} = ${String(value)}`, 'Give a whole number, 0 or more.')
  }
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}

function refuse(where: string, what: string, hint: string): never {
  throw new ToolError('CONFIG_INVALID', `${where} ${what}.`, { hint })
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Refuses unknown keys: a misspelt condition would silently make a rule broader. */
export function refuseUnknownKeys(value: object, known: readonly string[], where: (key: string) => string): void {
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue
    throw new ToolError('CONFIG_INVALID', `${where(key)}: ${JSON.stringify(key)} is not known here.`, {
      hint: `${didYouMean(key, known)} Known: ${known.join(', ')}.`.trim(),
    })
  }
}
