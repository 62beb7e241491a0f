import { homedir } from 'node:os'
import { join } from 'node:path'
import { checkConfig, toRules } from '../../config/index.ts'
import { type ConfigDocument, type Principal, type Rate, type SourcedRule, ToolError } from '../../core/index.ts'
import type { Hub } from '../../hub/index.ts'
import { compilePolicy } from '../../policy/index.ts'
import type { Scope, TokenLimits } from '../../protocol/index.ts'
import type { Caller } from '../service.ts'

/** A caller with what the door itself has to know. */
export interface AuthenticatedCaller extends Caller {
  /** Requests a second; the service's own limit unless said. */
  readonly rate?: Rate
}

/** Whom to let in, and how far. */
export interface CallerFacts {
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly token?: string
  readonly limits: TokenLimits
  /** How decisions name where its rules come from, e.g. `token ci`. */
  readonly label: string
  /** The folder that relative patterns of its rules start from. */
  readonly base: string
  /** What makes commands and destruction possible, for who is refused. */
  readonly howToAllowDanger: string
}

/** Makes the caller, with the hub as its limits let it be used. */
export function toCaller(hub: Pick<Hub, 'as'>, facts: CallerFacts): AuthenticatedCaller {
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

/** What somebody may of the hub. */
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

/** Refuses a caller without the scope; no scope includes another. */
export function requireScope(caller: Pick<Caller, 'name' | 'scopes'>, scope: Scope): void {
  if (caller.scopes.has(scope)) return
  const scopes = [...caller.scopes].join(', ') || 'none'
  throw new ToolError('FORBIDDEN', `${caller.name} may not ${MEANING[scope]}: its scopes are ${scopes}.`, {
    hint: `Use a token with the scope ${scope}: tool-hub tokens add NAME --scopes ${scope}`,
  })
}

/** Whose rules they are. */
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

/** The rules that hold for one caller beside the owner's: its own, and that nothing dangerous is done from afar. */
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

/** Rules as people write them, read and checked like those of a config; CONFIG_INVALID names what is wrong. */
function readRules(policy: readonly unknown[], label: string, base: string): readonly SourcedRule[] {
  if (policy.length === 0) return []
  const document: ConfigDocument = { file: join(base, 'policy'), label, value: { policy }, locate: () => undefined }
  const { policy: checked } = checkConfig(document)
  const rules = Array.isArray(checked) ? toRules(document, checked) : []
  // Says now what is wrong with a pattern, not at the first call.
  compilePolicy({ owner: rules, home: homedir() })
  return rules
}
