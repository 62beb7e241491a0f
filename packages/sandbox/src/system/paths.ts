import { existsSync, lstatSync, realpathSync, type Stats } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { errnoOf } from '@tool-hub/core/lib'

/** Codes of errors for a path that leads nowhere: nothing there, through a file, a loop of links, too long a name. */
export const UNREACHABLE: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG'])

/** Returns the stats of a path without following a link, or `undefined` if nothing is there or can be. */
export function statsIfThere(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    if (UNREACHABLE.has(errnoOf(error))) return undefined
    throw error
  }
}

/** Returns the real path, also if nothing is there yet: a folder above it may be a link. */
export function realPath(path: string): string {
  if (existsSync(path) || dirname(path) === path) return realpathSync(path)
  return join(realPath(dirname(path)), basename(path))
}

/** Makes a path that the owner wrote absolute: `~/` is the owner's home. */
export function expandHome(path: string): string {
  return path === '~' || path.startsWith('~/') ? join(homedir(), path.slice(1)) : resolve(path)
}

/** A path of a config file, absolute: relative to the folder of the file, `~/` is the owner's home. */
export function resolvePath(base: string, written: string): string {
  return written === '~' || written.startsWith('~/') ? expandHome(written) : resolve(base, written)
}

/** Returns the real path, or the path itself if it leads nowhere. */
export function realIfThere(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    // A broken link, or nothing: it is protected under its own name.
    return path
  }
}
