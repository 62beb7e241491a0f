import type { Hub } from '../../hub.ts'
import type { Rate } from '../../options.ts'
import type { Principal } from '../../principal.ts'
import type { TokenLimits } from '../api/service.ts'
import type { Scope } from '../api/shapes.ts'
import type { Visitor } from '../service.ts'
import { limitsToRules } from './limits-to-rules.ts'

/** A visitor with what the door itself has to know. */
export interface AdmittedVisitor extends Visitor {
  /** Requests a second; the service's own limit unless said. */
  readonly rate?: Rate
}

/** Whom to let in, and how far. */
export interface VisitorFacts {
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

/** Makes the visitor, with the hub as its limits let it be used. */
export function toVisitor(hub: Pick<Hub, 'as'>, facts: VisitorFacts): AdmittedVisitor {
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
export function toPrincipal(facts: Omit<VisitorFacts, 'scopes' | 'token'>): Principal {
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
