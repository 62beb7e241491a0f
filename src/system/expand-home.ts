import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

/** A path as the owner wrote it, absolute: `~/` is the owner's home. */
export function expandHome(path: string): string {
  return path === '~' || path.startsWith('~/') ? join(homedir(), path.slice(1)) : resolve(path)
}
