import type { CallerKind, Capability, Constraints, Effect, Fix, ResolvedTarget } from '@tool-hub/core'
import type { CommandReading } from '@tool-hub/shell'
import type { CallArguments } from './evidence/index.ts'

/** Who may write a rule, strongest first. */
export type Layer = 'always' | 'owner' | 'defaults'

/** A call to decide on. */
export interface PolicyQuestion {
  /** Canonical name. */
  readonly tool: string
  /** Canonical, dialect and wire names: a rule may use any. */
  readonly names: readonly string[]
  /** As rules spell them: `group:fs`. */
  readonly groups: readonly string[]
  /** Those that this call uses; policy decides on each. */
  readonly capabilities: readonly Capability[]
  /** What the call touches, resolved. */
  readonly targets: readonly ResolvedTarget[]
  /** Whether an agent calls, or a script that a model wrote. */
  readonly caller: CallerKind
  /** Whether the run has read untrusted content. */
  readonly tainted: boolean
  /** The closed list of capabilities this call may use; they permit nothing by themselves. */
  readonly grants?: readonly Capability[]
  /** What the commands among the targets are, by target; one that is missing is read roughly, and needs an approval. */
  readonly readings?: ReadonlyMap<string, CommandReading>
  /** What the call passes to the tool; absent where only its targets are known. */
  readonly arguments?: CallArguments
  /** The tool may delete or overwrite what no capability shows. */
  readonly mayDestroy?: boolean
  /** Commands of this call would run without a sandbox. */
  readonly isUnsandboxed?: boolean
}

/** Where a decision comes from: a layer of rules, the grants of the call, or no rule at all. */
type DecisionLayer = Layer | 'fallback' | 'grants'

/** Where a decision comes from that no written rule makes. */
export const BUILT_IN = { source: 'built in', layer: 'fallback' } as const

/** What was decided, by which rule, and what to change to get another answer. */
export interface PolicyVerdict {
  /** Allow, ask or deny. */
  readonly effect: Effect
  /** One line: `deny "*" on ~/.ssh/** (tool-hub.yaml:12)`. */
  readonly rule: string
  /** `tool-hub.yaml:12`, `shipped policy:7`, `built in`. */
  readonly source: string
  /** Where the rule comes from: always, owner or defaults. */
  readonly layer: DecisionLayer
  /** Why, in words of the rule. */
  readonly reason: string
  /** What to change to get another decision. */
  readonly fix: Fix
  /** The part of a command line that decided, when it is not all of it: "`rm -rf /` inside `$(…)` of the second argument". */
  readonly part?: string
  /** The call asks because of content from outside: the arguments that nothing shows to come from the user. */
  readonly unproven?: readonly string[]
  /** Bounds that the rule puts on the call. */
  readonly constraints: Constraints
}

/** The verdict on one thing that the call needs. */
export interface DemandDecision extends PolicyVerdict {
  /** Absent for a pure tool. */
  readonly capability?: Capability
  /** Absent when the tool names no target for the capability. */
  readonly target?: string
}

/** The answer to a question: the verdict on its strictest demand, under the bounds of all. */
export interface Decision extends PolicyVerdict {
  /** The decision for each capability and target; the strictest is the decision for the call. */
  readonly demands: readonly DemandDecision[]
  /** What skills asked for that touches this call; information only. */
  readonly requests: readonly string[]
}

/** How strict an effect is: of several, the strictest decides. */
export const STRICTNESS: Readonly<Record<Effect, number>> = { allow: 0, ask: 1, deny: 2 }
