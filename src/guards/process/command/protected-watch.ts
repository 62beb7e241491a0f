import { lstatSync } from 'node:fs'
import { rename } from 'node:fs/promises'

/**
 * A sandbox can only hold what is there. What a command makes at a protected place where nothing was before, such as
 * settings of an editor or a config of the hub, is renamed when it ends: nobody reads it by that name.
 */
export class ProtectedWatch {
  readonly #absent: readonly string[]

  constructor(paths: readonly string[]) {
    this.#absent = paths.filter((path) => !isThere(path))
  }

  /** Renames what has come meanwhile; gives back the old and the new path of each. */
  async setAside(mark: string): Promise<Array<{ readonly path: string; readonly movedTo: string }>> {
    const moved = []
    for (const path of this.#absent.filter(isThere)) {
      const movedTo = `${path}.set-aside-${mark}`
      await rename(path, movedTo)
      moved.push({ path, movedTo })
    }
    return moved
  }
}

/** A link that leads nowhere is there, too. Synchronous: a handful of paths, some microseconds. */
function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}
