import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** Where a path really leads, also if nothing is there yet: a folder above it may be a link. */
export function realPath(path: string): string {
  if (existsSync(path) || dirname(path) === path) return realpathSync(path)
  return join(realPath(dirname(path)), basename(path))
}
