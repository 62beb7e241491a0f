import { errnoOf } from '../../../disk/errno.ts'
import { fileAccess } from '../access/choose-access.ts'
import { atName, type ByteName, inNamed, namesIn, statName, toByteName } from './tree-entries.ts'

/** So many names are removed in one go before other work gets its turn. */
const AT_ONCE = 256

/**
 * Removes a file, a link or a folder with all below it, one descriptor a level: a folder that is swapped for a link
 * meanwhile fails, and nothing behind a link is touched. What is gone already counts as removed.
 */
export async function deleteTree(parent: number, name: string): Promise<void> {
  await remove(parent, toByteName(name), { count: 0 })
}

async function remove(parent: number, name: ByteName, done: { count: number }): Promise<void> {
  done.count += 1
  if (done.count % AT_ONCE === 0) await new Promise(setImmediate)
  try {
    if (!statName(parent, name).isDirectory()) fileAccess.unlink({ folder: parent, path: atName(parent, name) })
    else if (!removeEmpty(parent, name)) await removeFull(parent, name, done)
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
  }
}

async function removeFull(parent: number, name: ByteName, done: { count: number }): Promise<void> {
  await inNamed(parent, name, async (folder) => {
    for (const inner of namesIn(folder)) await remove(folder, inner, done)
  })
  fileAccess.removeFolder({ folder: parent, path: atName(parent, name) })
}

/** Tried first: it takes no descriptor, so what failed for want of one can still be cleared away. */
function removeEmpty(parent: number, name: ByteName): boolean {
  try {
    fileAccess.removeFolder({ folder: parent, path: atName(parent, name) })
    return true
  } catch (error) {
    if (errnoOf(error) === 'ENOTEMPTY' || errnoOf(error) === 'EEXIST') return false
    throw error
  }
}
