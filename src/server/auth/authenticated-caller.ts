import type { Principal, Rate } from '../../core/index.ts'
import type { Hub } from '../../hub/index.ts'
import type { Scope, TokenLimits } from '../../protocol/index.ts'
import type { Caller } from '../service.ts'
import { limitsToRules } from './limits-to-rules.ts'

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
