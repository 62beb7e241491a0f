import { needProgram } from './find-program.ts'
import type { JailOwner } from './jail-owner.ts'

/** The words that run others as the user of a jail; those words as they are where that is the hub's own user. */
export function runAs(owner: JailOwner, words: readonly string[]): string[] {
  if (!owner.isOther) return [...words]
  const setpriv = needProgram('setpriv', 'util-linux')
  return [setpriv, `--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups', '--', ...words]
}
