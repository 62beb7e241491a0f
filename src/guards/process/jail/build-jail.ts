import { bubblewrapJail } from './bubblewrap.ts'
import type { Jail, JailSpec } from './jail.ts'
import { macosJail } from './macos.ts'
import { namespacesJail } from './namespaces.ts'
import { unconfinedJail } from './unconfined.ts'

/** The jail of a specification, as a program to start. Throws SANDBOX_UNAVAILABLE where a program for it is missing. */
export function buildJail(spec: JailSpec, platform: NodeJS.Platform = process.platform): Jail {
  if (spec.level === 'none') return unconfinedJail(spec)
  if (platform === 'darwin') return macosJail(spec)
  return spec.level === 'full' ? bubblewrapJail(spec) : namespacesJail(spec)
}
