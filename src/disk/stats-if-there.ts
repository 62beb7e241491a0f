import { lstatSync, type Stats } from 'node:fs'
import { errnoOf } from './errno.ts'

/** By such a path nothing can be reached: through a file, through a loop of links, or with too long a name. */
const UNREACHABLE: ReadonlySet<string | undefined> = new Set(['ENOTDIR', 'ELOOP', 'ENAMETOOLONG'])

/** What is at a path, a link being itself; undefined for nothing, also where nothing can be. */
export function statsIfThere(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    if (UNREACHABLE.has(errnoOf(error))) return undefined
    throw error
  }
}
