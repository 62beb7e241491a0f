import { isPlainObject } from '../../value/is-plain-object.ts'
import { SCOPES, type Scope } from '../api/shapes.ts'
import type { CheckedJwtConfig } from './jwt-config.ts'

const MOST_WORDS = 1_000

/** The scopes that the claims of a token give here; words that mean nothing here are passed over. */
export function readScopes(
  claims: Readonly<Record<string, unknown>>,
  { scopesClaim, map }: Pick<CheckedJwtConfig, 'scopesClaim' | 'map'>,
): readonly Scope[] {
  const meanings = new Map<string, readonly Scope[]>(
    map
      ? Object.entries(map).map(([word, scopes]) => [word, [scopes].flat()])
      : SCOPES.map((scope) => [scope, [scope]]),
  )
  const found = new Set(wordsOf(findClaim(claims, scopesClaim)).flatMap((word) => meanings.get(word) ?? []))
  return SCOPES.filter((scope) => found.has(scope))
}

/** A claim by its name; where there is none, the name is a way into objects. */
function findClaim(claims: Readonly<Record<string, unknown>>, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name]
  return name
    .split('.')
    .reduce<unknown>((at, key) => (isPlainObject(at) && Object.hasOwn(at, key) ? at[key] : undefined), claims)
}

function wordsOf(claim: unknown): readonly string[] {
  const words = typeof claim === 'string' ? claim.split(' ') : Array.isArray(claim) ? claim : []
  return words.slice(0, MOST_WORDS).filter((word) => typeof word === 'string')
}
