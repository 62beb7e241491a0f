import { homedir } from 'node:os'
import { join } from 'node:path'
import { checkConfig, toRules } from '@tool-hub/config'
import { type ConfigDocument, type Principal, type Rate, type SourcedRule, ToolError } from '@tool-hub/core'
import type { Scope, TokenLimits } from '@tool-hub/core/protocol'
import { compilePolicy } from '@tool-hub/policy'
import type { Hub, PrincipalHub } from '@tool-hub/runtime/hub'

/** An authenticated caller. */
export interface Caller {
  /** `token:ci`, `user:ada`, `owner`: the name of its principal. */
  readonly name: string
  readonly scopes: ReadonlySet<Scope>
  /** The hub with the rights of this caller. */
  readonly hub: PrincipalHub
  /** The rights of the caller, for work that outlives its connection. Absent for the owner of the hub. */
  readonly rights?: Principal
  /** Id of its token, if it has one. */
  readonly token?: string
  /** Rate of requests. Default: that of the service. */
  readonly rate?: Rate
}

/** The identity and the limits of a caller. */
export interface CallerFacts {
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly token?: string
  readonly limits: TokenLimits
  /** Source of its rules in decisions, e.g. `token ci`. */
  readonly label: string
  /** Folder that relative patterns of its rules start from. */
  readonly base: string
  /** Hint on how to allow commands and destructive calls. */
  readonly howToAllowDanger: string
}

/** Creates a caller, with the hub under its limits. */
export function toCaller(hub: Pick<Hub, 'as'>, facts: CallerFacts): Caller {
  const { name, scopes, token, limits } = facts
  const { rate } = limits
  const rights = toPrincipal(facts)
  return {
    name,
    scopes: new Set(scopes),
    hub: hub.as(rights),
    rights,
    ...(token !== undefined && { token }),
    ...(rate && { rate }),
  }
}

/** The rights of a caller as a principal of the hub. */
export function toPrincipal(facts: Omit<CallerFacts, 'scopes' | 'token'>): Principal {
  const { name, limits } = facts
  const { profile, budget, rate, roots } = limits
  const policy = limitsToRules(facts)
  return {
    name,
    ...(profile && { visibility: { profile } }),
    ...(policy.length > 0 && { policy }),
    ...(budget && { budget }),
    ...(rate && { rate }),
    ...(roots && { roots }),
  }
}

const MEANING = {
  call: 'call tools',
  approve: 'answer approvals',
  read: 'look at everything',
  admin: 'change tokens and policy',
}

/** Throws FORBIDDEN if the caller lacks the scope; no scope includes another. */
export function requireScope(caller: Pick<Caller, 'name' | 'scopes'>, scope: Scope): void {
  if (caller.scopes.has(scope)) return
  const scopes = [...caller.scopes].join(', ') || 'none'
  throw new ToolError('FORBIDDEN', `${caller.name} may not ${MEANING[scope]}: its scopes are ${scopes}.`, {
    hint: `Use a token with the scope ${scope}: tool-hub tokens add NAME --scopes ${scope}`,
  })
}

/** The owner of the rules. */
interface RuleOwner {
  readonly limits: TokenLimits
  readonly label: string
  readonly base: string
  readonly howToAllowDanger: string
}

const DANGERS = [
  { deny: 'exec', what: 'Commands are' },
  { deny: 'danger:destructive', what: 'Calls that destroy something are' },
] as const

/**
 * The rules for one caller in addition to the owner's: its own, and that nothing dangerous is done over the network.
 */
export function limitsToRules({ limits, label, base, howToAllowDanger }: RuleOwner): readonly SourcedRule[] {
  const own = readRules(limits.policy ?? [], label, base)
  if (limits.allowDanger) return own
  const dangers = DANGERS.map(({ deny, what }) => ({
    rule: { deny, reason: `${what} off over the network for ${label}.` },
    source: { file: label },
    base,
    remedy: howToAllowDanger,
  }))
  return [...own, ...dangers]
}

/** Parses rules as in a config; throws CONFIG_INVALID for an invalid one. */
function readRules(policy: readonly unknown[], label: string, base: string): readonly SourcedRule[] {
  if (policy.length === 0) return []
  const document: ConfigDocument = { file: join(base, 'policy'), label, value: { policy }, locate: () => undefined }
  const { policy: checked } = checkConfig(document)
  const rules = Array.isArray(checked) ? toRules(document, checked) : []
  // Reports an invalid pattern now, not at the first call.
  compilePolicy({ owner: rules, home: homedir() })
  return rules
}
