import { readlinkSync } from 'node:fs'
import { chmod, rename, symlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { errnoOf } from '../../../disk/errno.ts'
import { statsIfThere } from '../../../disk/stats-if-there.ts'
import { messageOf } from '../../../errors.ts'

/** What was done about something that a command has put at a protected place. */
export interface SetAside {
  readonly path: string
  /** Its new name; absent when it could not be renamed. */
  readonly movedTo?: string
  readonly problem?: string
}

/** What is at a place: nothing, a link to somewhere, or anything else. */
type Present = 'nothing' | 'something' | { readonly link: string }

/**
 * A sandbox can only hold what is there. What a command makes at a protected place where nothing was before, such as
 * settings of an editor or a config of the hub, is renamed when it ends: nobody reads it by that name. What was there
 * before is the owner's; as long as any command runs, what comes is a command's.
 */
export class ProtectedWatch {
  readonly #paths: readonly string[]
  #before: ReadonlyMap<string, Present> = new Map()
  #running = 0

  constructor(paths: readonly string[]) {
    this.#paths = paths
  }

  /** A command is about to start. */
  enter(): void {
    if (this.#running++ === 0) this.#before = new Map(this.#paths.map((path) => [path, lookAt(path)]))
  }

  /** A command has ended: renames what has come meanwhile. */
  async leave(mark: string): Promise<SetAside[]> {
    try {
      const changed = [...this.#before].filter(([path, before]) => isOther(before, lookAt(path)))
      return await Promise.all(changed.map(([path, before]) => setAside(path, before, mark)))
    } finally {
      this.#running--
    }
  }
}

/** What was something is mounted read-only, and only what was nothing or a link can have changed. */
function isOther(before: Present, now: Present): boolean {
  if (before === 'something' || now === 'nothing') return false
  return before === 'nothing' || typeof now !== 'object' || now.link !== before.link
}

async function setAside(path: string, before: Present, mark: string): Promise<SetAside> {
  const movedTo = `${path}.set-aside-${mark}`
  try {
    await rename(path, movedTo).catch(async (error: unknown) => {
      if (errnoOf(error) !== 'EACCES') throw error
      // The command has closed the folder behind it; it is its owner's to open.
      await chmod(dirname(path), 0o755)
      await rename(path, movedTo)
    })
    if (typeof before === 'object') await symlink(before.link, path)
    return { path, movedTo }
  } catch (error) {
    // Another command that ended at the same time was quicker.
    return errnoOf(error) === 'ENOENT' ? { path, movedTo } : { path, problem: messageOf(error) }
  }
}

/** Synchronous: a handful of paths, some microseconds. */
function lookAt(path: string): Present {
  const found = statsIfThere(path)
  if (!found) return 'nothing'
  return found.isSymbolicLink() ? { link: readlinkSync(path) } : 'something'
}
