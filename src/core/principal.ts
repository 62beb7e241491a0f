import type { BudgetLimits, Rate, Sandbox, Visibility } from './options.ts'
import type { Rule, SourcedRule } from './rule.ts'

/** Somebody who calls through a door that others use too: what they may see and do, never more than the hub's owner lets everybody. */
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
