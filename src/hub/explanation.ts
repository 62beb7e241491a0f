import type { Effect, ResolvedTarget } from '../define.ts'
import type { Decision } from '../policy/question.ts'
import type { CallError } from '../result.ts'

/** What would happen to a call, why, and what would change it. */
export interface Explanation {
  readonly tool: string
  readonly effect: Effect
  readonly rule: string
  readonly source: string
  readonly reason: string
  readonly targets: readonly ResolvedTarget[]
  /** Set when the call would not get as far as policy. */
  readonly error?: CallError
  readonly decision?: Decision
  /** Set when it would ask, and somebody has answered before. */
  readonly remembered?: { readonly decision: 'allow' | 'deny'; readonly by: string; readonly grant: string }
  /** Set when a run that has read from outside gets another answer. */
  readonly inTaintedRun?: Pick<Decision, 'effect' | 'rule' | 'source' | 'reason'>
  /** For people, several lines. */
  readonly text: string
}
