import type { Effect, Rule, RuleCondition, RuleSource, SourcedRule } from '../core/index.ts'

const MAX_PATTERNS = 3

/** A rule on one line, with where it was written: `deny "*" on ~/.ssh/** (tool-hub.yaml:12)`. */
export function describeRule({ rule, source, fallback }: SourcedRule): string {
  const parts = [effectOf(rule), quoteSubject(subjectOf(rule))]
  if (rule.on !== undefined) parts.push('on', listPatterns(rule.on))
  if (rule.except !== undefined) parts.push('except', listPatterns(rule.except))
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

function describeWhen({ tainted, caller }: RuleCondition): string[] {
  const parts = []
  if (tainted !== undefined) parts.push(tainted ? 'when tainted' : 'when not tainted')
  if (caller !== undefined) parts.push(`when called by ${caller}`)
  return parts
}
