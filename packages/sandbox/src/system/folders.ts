import { realpathSync, statSync, watch } from 'node:fs'
import { lstat, readdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { assertOurFolder, type Distrust, distrust } from './trusted-files.ts'

/** A folder, possibly found through a link. */
export interface FoundFolder {
  /** Its real path. */
  readonly path: string
  /** Why another user could have written to it. */
  readonly distrust: Distrust | undefined
}

/** Returns the real path of a folder and whether it can be trusted, or `undefined` if it does not exist. */
export function lookAtFolder(path: string): FoundFolder | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false })
    return stats?.isDirectory() ? { path: realpathSync.native(path), distrust: distrust(stats) } : undefined
  } catch {
    // What cannot be reached is not there for us.
    return undefined
  }
}

/** A folder that contains the file that was searched for. */
export interface FoundIn {
  /** The name under which it was found; it may be a link. */
  readonly name: string
  /** The real path of the folder. */
  readonly folder: string
  /** The file in it, itself not followed. */
  readonly file: string
  /** Changes when the file does. */
  readonly version: string
}

const MAX_NAMES = 5_000

/** Searches for a file of this name in a folder and in each folder directly below it, in order of their names. */
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
    // No folder, no such file in it, or removed meanwhile.
    return undefined
  }
}

/** A regular file that only this user or root can have written. */
interface OurFile {
  readonly name: string
  readonly path: string
  /** Changes when the file does. */
  readonly version: string
}

/** A file that is not read, with the reason. */
interface RefusedFile {
  readonly name: string
  readonly why: string
}

/** Lists the files of a folder by name. Links and files that another user could have written are refused. */
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
 * Calls back when something in a folder changes, possibly several times for one change. Some file systems report
 * nothing, and a folder that is created again is another one: a caller that must not miss a change also has to poll.
 * Returns a function that stops watching.
 */
export function watchFolder(path: string, onChange: () => void): () => void {
  try {
    const watcher = watch(path, { persistent: false }, onChange)
    watcher.on('error', () => watcher.close())
    return () => watcher.close()
  } catch {
    // Nothing there, or no more watches available: nothing is reported.
    return () => {}
  }
}
