import type { CallerKind, Capability } from './define.ts'

/** Conditions of a rule that look at the call, not at its targets. */
export interface When {
  /** The run has read untrusted content. */
  readonly tainted?: boolean
  readonly caller?: CallerKind
}

/** Bounds that a rule puts on the calls it lets through. */
export interface Constraints {
  readonly timeoutMs?: number
  readonly maxBytes?: number
  readonly maxResults?: number
  /** How often a request that sends data is repeated; only with an idempotency key. */
  readonly retries?: number
}

interface RuleFields {
  /** Targets it is about: path globs, URL globs, command words. All unless said. */
  readonly on?: string | readonly string[]
  /** Targets it is not about. */
  readonly except?: string | readonly string[]
  readonly when?: When
  readonly reason?: string
  readonly limit?: Constraints
}

/**
 * A verb, a subject, optionally targets, conditions and a reason.
 * Subject: a tool name, a dialect name, `group:fs`, a capability, or `*`.
 */
export type Rule = RuleFields &
  (
    | { readonly allow: string; readonly ask?: undefined; readonly deny?: undefined }
    | { readonly ask: string; readonly allow?: undefined; readonly deny?: undefined }
    | { readonly deny: string; readonly allow?: undefined; readonly ask?: undefined }
  )

/** Where a rule was written. */
export interface RuleSource {
  readonly file: string
  readonly line?: number
}

/** A rule that knows where it comes from and what its relative globs are relative to. */
export interface SourcedRule {
  readonly rule: Rule
  readonly source: RuleSource
  readonly base: string
  /** Consulted only for demands that no other rule of its layer matches, e.g. `tools.default` of policy.yaml. */
  readonly fallback?: boolean
  /** The capabilities whose demands it is about; all unless said. */
  readonly about?: readonly Capability[]
}

/** A skill's wish: shown to the approver, never an allow. */
export interface SkillRequest {
  readonly skill: string
  readonly wants: readonly (Capability | string)[]
  readonly reason?: string
}
