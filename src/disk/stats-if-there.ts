import { lstatSync, type Stats } from 'node:fs'
import { errnoOf } from './errno.ts'

/** What is at a path, a link being itself; undefined for nothing, also where a folder on the way is a file. */
export function statsIfThere(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    if (errnoOf(error) === 'ENOTDIR') return undefined
    throw error
  }
}
