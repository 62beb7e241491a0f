import { sha256 } from '../../lib/index.ts'
import type { Call } from './call.ts'
import type { Parts } from './parts.ts'

/**
 * The targets of a call as people and records see them: `write:fs /srv/notes.md`. A secret in one is marked out, and
 * its hash keeps two such targets apart: a grant for one must not cover the other.
 */
export function targetLines({ redactor }: Parts, call: Call): string[] {
  return call.targets.map(({ capability, value }) => {
    const shown = redactor.text(value)
    return shown === value ? `${capability} ${value}` : `${capability} ${shown} (${sha256(value).slice(0, 16)})`
  })
}
