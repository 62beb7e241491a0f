import type { CallError, Effect, ResolvedTarget } from '../core/index.ts'
import type { Decision } from '../policy/index.ts'

/** What would happen to a call, why, and what would change it. */
export interface Explanation {
  /** Canonical name of the tool, or the name that was asked for if there is none. */
  readonly tool: string
  /** What would happen: `allow`, `ask` or `deny`. */
  readonly effect: Effect
  /** The rule that decides, in one line. */
  readonly rule: string
  /** Where that rule was written: `tool-hub.yaml:12`, `default.yaml:7`. */
  readonly source: string
  /** Why, in words of the rule. */
  readonly reason: string
  /** What the call would touch, resolved. */
  readonly targets: readonly ResolvedTarget[]
  /** What is dangerous about the call, in words, the most dangerous first; absent where nothing is known to be. */
  readonly risks?: readonly string[]
  /** Set when the call would not get as far as policy. */
  readonly error?: CallError
  /** The decision for every capability and target; absent when the call would not get as far. */
  readonly decision?: Decision
  /** Set when it would ask, and somebody has answered before. */
  readonly remembered?: { readonly decision: 'allow' | 'deny'; readonly by: string; readonly grant: string }
  /** Set when a run that has read from outside gets another answer. */
  readonly inTaintedRun?: Pick<Decision, 'effect' | 'rule' | 'source' | 'reason'>
  /** For people, several lines. */
  readonly text: string
}
