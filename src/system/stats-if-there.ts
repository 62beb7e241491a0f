import { lstatSync, type Stats } from 'node:fs'
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
