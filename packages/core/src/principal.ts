import type { CallerKind, Capability } from './capability.ts'
import type { BudgetLimits, Rate } from './limits.ts'
import type { Sandbox } from './sandbox-options.ts'
import type { PlaceConstraint } from './worker-labels.ts'

/** Which tools an agent sees. */
export interface Visibility {
  /** A ready-made choice of tools. Default: `full`, which hides nothing. */
  readonly profile?: 'minimal' | 'coding' | 'messaging' | 'full'
  /** Not empty: nothing else is visible. Tool names, dialect names, `group:…`. */
  readonly allow?: readonly string[]
  /** Visible in addition to those of the profile and of `allow`. Tool names, dialect names, `group:…`. */
  readonly also?: readonly string[]
  /** Wins over allow and also. */
  readonly deny?: readonly string[]
}

/**
 * A caller on a transport that others use too: what it may see and do, which is never more than the owner allows
 * everybody.
 */
export interface Principal {
  /** Recorded with every call; runs, client tools and what was asked belong to it. */
  readonly name: string
  /** A narrower look at the tools. */
  readonly visibility?: Visibility
  /** Further rules, beside the owner's. */
  readonly policy?: readonly (Rule | SourcedRule)[]
  /** What it may use a day (UTC), counted in the store. */
  readonly budget?: BudgetLimits
  /** How fast it may call, in addition to the rates of the hub. Default: no further limit. */
  readonly rate?: Rate
  /** How long the budget lasts: a period, or as long as the principal exists. Default: a day. */
  readonly budgetFor?: 'day' | 'ever'
  /** Never more than this one may, and counted with it too. */
  readonly within?: Principal
  /** Runs of others whose budget its calls are taken from, too. */
  readonly chargedRuns?: readonly string[]
  /** Its own folders instead of the hub's. */
  readonly roots?: Sandbox['roots']
}

/** Its own folders, or those of the one it lies within. */
export function rootsOf({ roots, within }: Principal): Principal['roots'] {
  return roots ?? (within && rootsOf(within))
}

/** Conditions of a rule that look at the call, not at its targets. */
export interface RuleCondition {
  /** The run has read untrusted content. */
  readonly tainted?: boolean
  /** Who calls: the agent itself (`direct`), or a script that the model wrote (`script`). Default: both. */
  readonly caller?: CallerKind
}

/** A value that an argument is compared with. */
export type WhereValue = string | number | boolean | null

/** Bounds of a number; at least one of both. */
export interface WhereRange {
  /** The smallest number that matches. */
  readonly min?: number
  /** The largest number that matches. */
  readonly max?: number
}

/**
 * What an argument must be: a value, a glob, bounds of a number, or one of a list of these. `from-user` means a value that
 * occurs in the user's own words, `approved-before` one that a person has approved for this tool and argument.
 */
export type WhereTest = WhereValue | WhereRange | readonly (WhereValue | WhereRange)[]

/** Bounds that a rule puts on the calls it lets through. */
export interface Constraints extends PlaceConstraint {
  /** Longest time of such a call, in milliseconds; shortens the tool's own limit, never extends it. */
  readonly timeoutMs?: number
  /** Maximum number of bytes that such a call reads or writes in one operation. */
  readonly maxBytes?: number
  /** The largest file that such a call reads, whole or in parts. */
  readonly maxFileBytes?: number
  /** Most entries that such a call lists. */
  readonly maxResults?: number
  /** How often a request that sends data is repeated; only with an idempotency key. */
  readonly retries?: number
}

interface RuleFields {
  /** Targets it is about: path globs, URL globs, command words. Default: all. */
  readonly on?: string | readonly string[]
  /** Targets it is not about. */
  readonly except?: string | readonly string[]
  /**
   * The arguments that it is about, by name or JSON pointer. All must match: of a list, every element for an allow, any
   * element for an ask or a deny. Default: any arguments.
   */
  readonly where?: Readonly<Record<string, WhereTest>>
  /** The rule holds only under these conditions. Default: always. */
  readonly when?: RuleCondition
  /** Returned to the model when the rule denies, and shown to the approver when it asks. */
  readonly reason?: string
  /** Bounds on the calls that the rule lets through. */
  readonly limit?: Constraints
}

/**
 * A verb, a subject, optionally targets, conditions and a reason.
 * Subject: a tool name, a dialect name, `group:fs`, a capability, or `*`.
 */
export type Rule = RuleFields &
  (
    | {
        /** Lets through: a tool, a dialect name, `group:<name>`, a capability, or `*`. */
        readonly allow: string
        readonly ask?: undefined
        readonly deny?: undefined
      }
    | {
        /** Asks a person first; the same subjects as `allow`. */
        readonly ask: string
        readonly allow?: undefined
        readonly deny?: undefined
      }
    | {
        /** Refuses; the same subjects as `allow`. Wins over every allow and ask. */
        readonly deny: string
        readonly allow?: undefined
        readonly ask?: undefined
      }
  )

/** Where a rule was written. */
export interface RuleSource {
  /** Path of the file, as messages name it. */
  readonly file: string
  /** Line of the rule in the file, counted from 1; absent when it is not known. */
  readonly line?: number
}

/** A rule that knows where it comes from and what its relative globs are relative to. */
export interface SourcedRule {
  /** The rule as its author wrote it. */
  readonly rule: Rule
  /** The place that `explain` and the records name for it. */
  readonly source: RuleSource
  /** Folder that the relative path globs of the rule start at. */
  readonly base: string
  /** Consulted only for demands that no other rule of its layer matches, e.g. `tools.default` of policy.yaml. */
  readonly fallback?: boolean
  /** The capabilities whose demands it is about. Default: all. */
  readonly about?: readonly Capability[]
  /** What helps someone whom the rule denies, where the rule itself cannot be edited. Default: to change the rule. */
  readonly remedy?: string
}

/** A skill's wish: shown to the approver, never an allow. */
export interface SkillRequest {
  /** Name of the skill that asks. */
  readonly skill: string
  /** Capabilities and tool names that the skill says it needs. */
  readonly wants: readonly (Capability | string)[]
  /** Why the skill needs them, in its own words. */
  readonly reason?: string
}
