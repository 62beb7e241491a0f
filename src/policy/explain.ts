import type { Constraints } from '../core/index.ts'
import { escapeLine } from '../lib/index.ts'
import type { Decision, DemandDecision, PolicyQuestion } from './question.ts'

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
    `    source: ${source} (${layer})`,
    `    reason: ${reason}`,
  ]
  return effect === 'allow' ? lines : [...lines, `    fix: ${fix.hint}`]
}

function describeConstraints({ timeoutMs, maxBytes, maxResults }: Constraints): string {
  const bounds = []
  if (timeoutMs !== undefined) bounds.push(`${timeoutMs} ms`)
  if (maxBytes !== undefined) bounds.push(`${maxBytes} bytes`)
  if (maxResults !== undefined) bounds.push(`${maxResults} results`)
  return bounds.join(', ')
}
