import { useValue } from '../state/create-value.ts'
import { session } from './session.ts'
import type { Me, Scope } from './types.ts'

/** Who is signed in, and whether it has a scope; only below the shell, where somebody is. */
export function useMe(): Me & { may(scope: Scope): boolean } {
  const current = useValue(session)
  if (current.state !== 'signed-in') throw new Error('useMe is for pages, which are shown to somebody signed in.')
  const { me } = current
  return { ...me, may: (scope) => me.principal.scopes.includes(scope) }
}
