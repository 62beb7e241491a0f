import type { Capability, Fix, Rule } from '@tool-hub/core'
import { isPlainObject } from '@tool-hub/core/lib'
import type { Bucket, Policy } from '../compile-policy.ts'
import { type CompiledRule, readSubject, specificityOf } from '../compile-rule.ts'
import { type PolicyTarget, TARGET_KINDS, targetAsPattern } from '../match/index.ts'
import type { PolicyQuestion } from '../question.ts'

/** The fix of what is allowed already. */
export const NOTHING_TO_FIX: Fix = Object.freeze({ hint: 'Nothing to change: it is allowed.' })

interface FixNeed {
  readonly capability?: Capability
  readonly target?: string
  /** Patterns that would allow it, where the target itself is none; empty when no rule can. */
  readonly patterns?: readonly string[]
  /** Rules that keep other parts of it from being allowed. */
  readonly others?: readonly CompiledRule[]
}

/** What the owner would write, and where, so that this demand is allowed; says so if no rule can do it. */
export function suggestFix(
  { place }: Policy,
  question: PolicyQuestion,
  { capability, target, patterns, others = [] }: FixNeed,
  rule: CompiledRule | undefined,
): Fix {
  if (rule?.effect === 'allow') return NOTHING_TO_FIX
  if (rule?.layer === 'always')
    return { hint: `No rule can allow this: ${rule.text} always holds. Use another target.` }
  const owners = [rule, ...others].filter((each) => each?.layer === 'owner' && !each.isFallback)
  if (rule !== undefined && owners.includes(rule) && rule.effect === 'deny') {
    if (rule.remedy !== undefined) return { hint: rule.remedy }
    // The rules of a token cannot be changed: it is replaced by another one.
    if (rule.source.startsWith('token '))
      return { hint: `Have the owner make a token without ${rule.text}: tool-hub tokens add.` }
    return { key: 'policy', hint: `Remove or narrow ${rule.text}: a deny wins over every allow.` }
  }
  const on = patterns ?? patternsOf(capability, target)
  if (target !== undefined && on.length === 0) {
    const enable = rule?.effect === 'deny' ? `Add { ask: "${capability}" } to ${place}, then approve` : 'Approve'
    return { key: 'policy', hint: `${enable} it when asked: no rule can allow exactly this target.` }
  }
  // A tool that is called like a capability cannot be named: the word means the capability.
  const name = [question.tool, ...question.names].find((known) => readSubject(known, 'allow').kind === 'tool')
  // A tool that does not say what it runs counts as able to run commands: it alone is allowed, not every command.
  const isVague = target === undefined && (capability === 'exec' || capability === 'remote')
  const isUndeclared = isVague && capability === 'exec' && !question.tool.startsWith('core/')
  const subjects = (isVague ? [name, capability] : [capability, name]).filter((known) => known !== undefined)
  const beats = (subject: string) => {
    const own = specificityOf(readSubject(subject, 'allow'), on.length > 0 ? { on } : {})
    // Of two that allow the same, both count.
    return owners.every((each) => own > each!.specificity - (each!.effect === 'allow' ? 1 : 0))
  }
  const subject = subjects.find(beats)
  if (subject === undefined)
    return { key: 'policy', hint: `Change ${owners[0]?.text} to allow: no rule is more specific.` }
  const value: Rule = on.length === 0 ? { allow: subject } : { allow: subject, on: on.length === 1 ? on[0] : on }
  return {
    key: 'policy',
    value,
    hint: `Add ${writeRule(value)} to ${place}.${permits(value, capability)}${isUndeclared ? VAGUE : ''}`,
  }
}

const VAGUE =
  ' The tool does not say what it touches, so it counts as able to run commands; it can declare capabilities instead.'

/** A warning about what else a rule would permit, if that is much or cannot be undone. */
function permits({ allow, on }: Rule, capability: Capability | undefined): string {
  if (on !== undefined)
    return capability === 'danger:destructive' ? ' Tools may then overwrite or delete it without an approval.' : ''
  if (allow === capability) return ` Every call that needs ${allow} then runs without an approval.`
  return ` Every call of ${allow} then runs without an approval.`
}

function patternsOf(capability: Capability | undefined, target: string | undefined): readonly string[] {
  const kind = capability && TARGET_KINDS[capability]
  if (kind === undefined || kind === 'command' || target === undefined) return []
  const pattern = targetAsPattern(kind, target)
  return pattern === undefined ? [] : [pattern]
}

/** A search decides on many files: with more patterns than these, none is named as the nearest. */
const MAX_COMPARED = 100

/** A rule about other paths, with the absolute glob that its pattern stands for. */
export interface NearestRule {
  readonly rule: CompiledRule
  readonly glob: string
}

/** Finds the owner's allow of other paths whose glob has the longest beginning in common with this path. */
export function findNearestRule(buckets: readonly Bucket[], target: PolicyTarget | undefined): NearestRule | undefined {
  if (target?.kind !== 'path') return undefined
  const filed = buckets.flatMap(({ targeted }) => [...(targeted.get('path')?.values() ?? [])].flat())
  if (filed.length > MAX_COMPARED) return undefined
  let nearest: NearestRule | undefined
  let longest = -1
  for (const { rule, pattern } of filed) {
    const { glob } = pattern
    if (rule.effect !== 'allow' || rule.layer !== 'owner' || glob === undefined) continue
    const length = sharedLength(glob, target.value)
    if (length < longest || (length === longest && rule.order >= nearest!.rule.order)) continue
    nearest = { rule, glob }
    longest = length
  }
  return nearest
}

/** The rule and its glob as a sentence of a reason, after a blank; empty without a rule. */
export function describeNearest(nearest: NearestRule | undefined): string {
  return nearest ? ` The nearest one is ${nearest.rule.text}: it allows ${nearest.glob}.` : ''
}

function sharedLength(a: string, b: string): number {
  let length = 0
  while (length < a.length && a[length] === b[length]) length++
  return length
}

/** A rule as it is written in the config. */
export function writeRule({ allow, ask, on, where, when }: Rule): string {
  return writeFlow({ allow, ask: allow === undefined ? ask : undefined, on, where, when })
}

/** YAML on one line; texts are quoted as in JSON. */
function writeFlow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(writeFlow).join(',')}]`
  if (!isPlainObject(value)) return JSON.stringify(value)
  const fields = Object.entries(value).flatMap(([key, field]) =>
    field === undefined ? [] : `${writeKey(key)}: ${writeFlow(field)}`,
  )
  return `{ ${fields.join(', ')} }`
}

/** Some words are not texts in YAML. */
function writeKey(key: string): string {
  const isPlain = /^[a-z_][\w-]*$/i.test(key) && !/^(?:true|false|null|yes|no|off|y|n)$/i.test(key)
  return isPlain ? key : JSON.stringify(key)
}
