import type { Effect, Rule, RuleCondition, RuleSource, SourcedRule, WhereRange, WhereTest } from '@tool-hub/core'
import { escapeLine } from '@tool-hub/core/lib'
import { describeConstraints } from './constraints.ts'
import type { Decision, DemandDecision, PolicyQuestion } from './question.ts'
import { EVIDENCE } from './where.ts'

const MAX_PATTERNS = 3
/** What the sources of the rules in default.yaml begin with. */
const SHIPPED = 'shipped policy:'

/** A rule on one line, with where it was written: `deny "*" on ~/.ssh/** (tool-hub.yaml:12)`. */
export function describeRule({ rule, source, fallback }: SourcedRule): string {
  const parts = [effectOf(rule), quoteSubject(subjectOf(rule))]
  if (rule.on !== undefined) parts.push('on', listPatterns(rule.on))
  if (rule.except !== undefined) parts.push('except', listPatterns(rule.except))
  if (rule.where !== undefined) parts.push('where', describeWhere(rule.where))
  if (rule.when !== undefined) parts.push(...describeWhen(rule.when))
  if (fallback) parts.push('by default')
  return `${parts.join(' ')} (${describeSource(source)})`
}

/** `tool-hub.yaml:12`, or the file alone when the line is not known. */
export function describeSource({ file, line }: RuleSource): string {
  return line === undefined ? file : `${file}:${line}`
}

/** The verb of a rule. */
export function effectOf(rule: Rule): Effect {
  if (rule.deny !== undefined) return 'deny'
  return rule.ask === undefined ? 'allow' : 'ask'
}

/** What the verb is about, without blanks around it. */
export function subjectOf(rule: Rule): string {
  return (rule.deny ?? rule.ask ?? rule.allow ?? '').trim()
}

function quoteSubject(subject: string): string {
  return subject === '*' ? '"*"' : subject
}

function listPatterns(patterns: string | readonly string[]): string {
  if (typeof patterns === 'string') return patterns
  const more = patterns.length - MAX_PATTERNS
  return patterns.slice(0, MAX_PATTERNS).join(', ') + (more > 0 ? ` and ${more} more` : '')
}

/** The arguments that a rule names, and what it wants of them. */
function describeWhere(where: NonNullable<Rule['where']>): string {
  return Object.entries(where)
    .map(([name, test]) => `${name} ${describeTest(test)}`)
    .join(' and ')
}

function describeTest(test: WhereTest): string {
  if (Array.isArray(test)) return listPatterns(test.map((item) => describeTest(item)))
  if (typeof test !== 'object' || test === null)
    return EVIDENCE.some((each) => each === test) ? `${test}` : `is ${JSON.stringify(test)}`
  const { min, max } = test as WhereRange
  if (min === undefined) return `at most ${max}`
  return max === undefined ? `at least ${min}` : `${min} to ${max}`
}

function describeWhen({ tainted, caller }: RuleCondition): string[] {
  const parts = []
  if (tainted !== undefined) parts.push(tainted ? 'when tainted' : 'when not tainted')
  if (caller !== undefined) parts.push(`when called by ${caller}`)
  return parts
}

/** A decision for people: the answer, then each demand with the rule that decided it and what would change it. */
export function explainDecision(question: PolicyQuestion, decision: Decision): string {
  const lines = [`${decision.effect}  ${question.tool}`, ...decision.demands.flatMap(explainDemand)]
  const bounds = describeConstraints(decision.constraints)
  if (bounds !== '') lines.push(`  limits: ${bounds}`)
  if (question.tainted) lines.push('  the run has read untrusted content')
  for (const request of decision.requests) lines.push(`  ${request} (a wish, not a grant)`)
  // Targets come from models: a line break or a bidi mark must not fake a line of this text.
  return lines.map(escapeLine).join('\n')
}

function explainDemand({ capability, target, effect, rule, reason, fix, source, layer }: DemandDecision): string[] {
  const what = [capability ?? 'no capability', ...(target === undefined ? [] : [target])].join(' ')
  const lines = [
    `  ${effect}  ${what}`,
    `    rule: ${rule}`,
    `    source: ${source} (${layer})${source.startsWith(SHIPPED) ? ', listed by tool-hub policy show' : ''}`,
    `    reason: ${reason}`,
  ]
  return effect === 'allow' ? lines : [...lines, `    fix: ${fix.hint}`]
}
