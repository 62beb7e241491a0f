import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { assertOurFolder, distrust } from './owned-by-us.ts'

/** A regular file that only this user or root can have written. */
export interface OurFile {
  readonly name: string
  readonly path: string
  /** Another one as soon as the file is. */
  readonly version: string
}

/** A file that is not read, and why. */
export interface RefusedFile {
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
