import { existsSync, lstatSync, realpathSync, type Stats } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { errnoOf } from '../lib/index.ts'

/** Nothing is there, or no path leads there: through a file, through a loop of links, or with too long a name. */
export const UNREACHABLE: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG'])

/** What is at a path, a link being itself; undefined for nothing, also where nothing can be. */
export function statsIfThere(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    if (UNREACHABLE.has(errnoOf(error))) return undefined
    throw error
  }
}

/** Where a path really leads, also if nothing is there yet: a folder above it may be a link. */
export function realPath(path: string): string {
  if (existsSync(path) || dirname(path) === path) return realpathSync(path)
  return join(realPath(dirname(path)), basename(path))
}

/** A path as the owner wrote it, absolute: `~/` is the owner's home. */
export function expandHome(path: string): string {
  return path === '~' || path.startsWith('~/') ? join(homedir(), path.slice(1)) : resolve(path)
}

/** A path of a config file, absolute: relative to the folder of the file, `~/` is the owner's home. */
export function resolvePath(base: string, written: string): string {
  return written === '~' || written.startsWith('~/') ? expandHome(written) : resolve(base, written)
}

/** Where a path leads at last; the path itself where it leads nowhere. */
export function realIfThere(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    // A link that leads nowhere, or nothing: it is protected by its own name.
    return path
  }
}
