import { lstatSync, readdirSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { errnoOf } from '../disk/errno.ts'
import { statsIfThere } from '../disk/stats-if-there.ts'

/** A file or folder with what the system says of it; a link is itself. */
export interface Entry {
  readonly path: string
  readonly stats: Stats
  /** It is a folder that cannot be listed. */
  readonly isClosed: boolean
}

const NO_NAMES: readonly string[] = []

/** A path and all that is below it, as far as it is there. `enters` says of a folder whether to look into it. */
export function* entriesBelow(path: string, enters: (path: string) => boolean = () => true): Generator<Entry> {
  const left = [path]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const stats = statsIfThere(next)
    if (!stats) continue
    const names = stats.isDirectory() && enters(next) ? namesIn(next) : NO_NAMES
    yield { path: next, stats, isClosed: names === undefined }
    for (const name of names ?? []) left.push(join(next, name))
  }
}

function namesIn(folder: string): string[] | undefined {
  try {
    return readdirSync(folder)
  } catch (error) {
    // It went away, or is something else now.
    if (['ENOENT', 'ENOTDIR'].includes(errnoOf(error))) return []
    if (['EACCES', 'EPERM'].includes(errnoOf(error)) && lstatSync(folder, { throwIfNoEntry: false })) return undefined
    throw error
  }
}
