import { realpathSync, statSync, watch } from 'node:fs'
import { lstat, readdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { assertOurFolder, type Distrust, distrust } from './trusted-files.ts'

/** A folder as it is found; a link to one counts. */
export interface FoundFolder {
  /** Its real path. */
  readonly path: string
  /** Why another user could have written to it. */
  readonly distrust: Distrust | undefined
}

/** What is known of a folder; undefined when there is none. */
export function lookAtFolder(path: string): FoundFolder | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false })
    return stats?.isDirectory() ? { path: realpathSync.native(path), distrust: distrust(stats) } : undefined
  } catch {
    // Not to be reached, so not there for us.
    return undefined
  }
}

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

/** A regular file that only this user or root can have written. */
interface OurFile {
  readonly name: string
  readonly path: string
  /** Another one as soon as the file is. */
  readonly version: string
}

/** A file that is not read, and why. */
interface RefusedFile {
  readonly name: string
  readonly why: string
}

/** The files of a folder by name; links and what another user could have written are refused, not followed. */
export async function listOurFiles(
  folder: string,
  isWanted: (name: string) => boolean,
): Promise<{ readonly files: readonly OurFile[]; readonly refused: readonly RefusedFile[] }> {
  assertOurFolder(folder)
  const names = (await readdir(folder)).filter(isWanted).sort()
  const files: OurFile[] = []
  const refused: RefusedFile[] = []
  for (const name of names) {
    const path = join(folder, name)
    // One that is gone again is not there.
    const stats = await lstat(path, { bigint: true }).catch(() => undefined)
    if (stats === undefined) continue
    const why = stats.isFile() ? distrustOf(stats, path) : `is ${stats.isSymbolicLink() ? 'a link' : 'no regular file'}`
    if (why === undefined) files.push({ name, path, version: `${stats.ino}-${stats.size}-${stats.mtimeNs}` })
    else refused.push({ name, why })
  }
  return { files, refused }
}

function distrustOf(stats: { uid: bigint; gid: bigint; mode: bigint }, path: string): string | undefined {
  const found = distrust({ uid: Number(stats.uid), gid: Number(stats.gid), mode: Number(stats.mode) })
  return found && `${found.why}; look who made it, then ${found.command} ${path}`
}

/**
 * Calls whenever something in a folder changes, also several times for one change. Some file systems tell nothing, and
 * a folder that is made anew is another one: anyone who must not miss a change looks by itself now and then, too. Gives
 * back how to stop.
 */
export function watchFolder(path: string, onChange: () => void): () => void {
  try {
    const watcher = watch(path, { persistent: false }, onChange)
    watcher.on('error', () => watcher.close())
    return () => watcher.close()
  } catch {
    // Nothing there, or no watch left to be had: then nothing is reported.
    return () => {}
  }
}
