import { lstat, readdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'

/** A folder that holds the file that was looked for. */
export interface FoundIn {
  /** By this name it was found; it may be a link. */
  readonly name: string
  /** The real path of the folder. */
  readonly folder: string
  /** The file in it, itself not followed. */
  readonly file: string
  /** Another one as soon as the file is. */
  readonly version: string
}

const MAX_NAMES = 5_000

/** Looks for a file of this name in a folder and in each folder right below it; in the order of the names. */
export async function findInFolders(folder: string, file: string): Promise<readonly FoundIn[]> {
  const names = (await readdir(folder)).filter((name) => !name.startsWith('.'))
  const looked = await Promise.all(['.', ...names.sort().slice(0, MAX_NAMES)].map((name) => look(folder, name, file)))
  return looked.filter((found) => found !== undefined)
}

async function look(folder: string, name: string, file: string): Promise<FoundIn | undefined> {
  try {
    const real = await realpath(join(folder, name))
    const path = join(real, file)
    const stats = await lstat(path, { bigint: true })
    return { name, folder: real, file: path, version: `${stats.ino}-${stats.size}-${stats.mtimeNs}` }
  } catch {
    // No folder, no such file in it, or gone again.
    return undefined
  }
}
