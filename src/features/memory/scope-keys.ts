import { wholeText } from './clean-note.ts'
import { MEMORY_SCOPES, type MemoryScope } from './types.ts'

/** Who writes or looks. */
export interface Whose {
  readonly run: string
  readonly session: string
  readonly caller: string
  readonly principal: string | undefined
}

/**
 * The scopes of one call, each with whose it is; what an agent cannot name it cannot reach. A session is known by a
 * name that its caller chose, so with a principal it is one of that principal.
 */
export function scopeKeys({ run, session, caller, principal }: Whose): Readonly<Record<MemoryScope, string>> {
  const own = encodeURIComponent(wholeText(session))
  return {
    run: `run:${run}`,
    session: principal === undefined ? `session:${own}` : `session:${own}@${principal}`,
    agent: `agent:${principal ?? wholeText(caller)}`,
    shared: 'shared',
  }
}

/** The word of a key that policy and people know: `agent` of `agent:token:ci`. */
export function scopeOf(key: string): MemoryScope | undefined {
  return MEMORY_SCOPES.find((scope) => key === scope || (scope !== 'shared' && key.startsWith(`${scope}:`)))
}
