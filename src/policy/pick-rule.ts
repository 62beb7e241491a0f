import type { Constraints } from '../core/index.ts'
import type { CompiledRule } from './compile-rule.ts'
import type { PolicyQuestion } from './question.ts'
import { type Demand, findRules, type RuleIndex } from './rule-index.ts'

/** The rule that decides a demand, and the bounds of all rules that say the same as specifically. */
interface Choice {
  readonly rule: CompiledRule
  readonly constraints: Constraints
}

/** No bounds. */
export const NO_CONSTRAINTS: Constraints = Object.freeze({})

/** Any matching deny; else the most specific rule, where a tie takes the stricter. */
export function pickRule(index: RuleIndex, question: PolicyQuestion, demand: Demand): Choice | undefined {
  let denial: CompiledRule | undefined
  let best: CompiledRule | undefined
  let constraints = NO_CONSTRAINTS
  findRules(index, question, demand, (rule) => {
    if (rule.effect === 'deny') {
      if (denial === undefined || comesBefore(rule, denial)) denial = rule
      return
    }
    if (best !== undefined && rule.specificity < best.specificity) return
    const isTie = rule.specificity === best?.specificity
    constraints = isTie ? mergeConstraints(constraints, rule.limit) : (rule.limit ?? NO_CONSTRAINTS)
    if (best === undefined || !isTie || isStricter(rule, best)) best = rule
  })
  if (denial !== undefined) return { rule: denial, constraints: NO_CONSTRAINTS }
  return best && { rule: best, constraints }
}

/** The strictest of both. */
export function mergeConstraints(a: Constraints, b: Constraints | undefined): Constraints {
  if (b === undefined || b === NO_CONSTRAINTS || b === a) return a
  if (a === NO_CONSTRAINTS) return b
  const merged: { -readonly [K in keyof Constraints]: Constraints[K] } = { ...a }
  for (const key of ['timeoutMs', 'maxBytes', 'maxResults', 'retries'] as const) {
    const bound = b[key]
    if (bound !== undefined) merged[key] = Math.min(bound, a[key] ?? bound)
  }
  return merged
}

function isStricter(rule: CompiledRule, than: CompiledRule): boolean {
  return rule.effect === than.effect ? comesBefore(rule, than) : rule.effect === 'ask'
}

/** Which of two that say the same is named: the one no rule can override, then the one written first. */
function comesBefore(a: CompiledRule, b: CompiledRule): boolean {
  return a.layer === b.layer ? a.order < b.order : a.layer === 'always'
}
