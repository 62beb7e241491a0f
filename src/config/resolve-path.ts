import { homedir } from 'node:os'
import path from 'node:path'

/** A path of a config: relative to the config's folder, `~/` is the owner's home. */
export function resolvePath(base: string, written: string): string {
  if (written === '~' || written.startsWith('~/')) return path.join(homedir(), written.slice(1))
  return path.resolve(base, written)
}
