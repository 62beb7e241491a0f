import { errnoOf } from '../../../disk/errno.ts'
import { fileAccess } from '../access/choose-access.ts'
import type { FolderEntry } from '../access/file-access.ts'
import type { ChangeScope } from './change-scope.ts'
import { Draft } from './draft.ts'
import { entryOf, type Place } from './place.ts'

/**
 * Whether something beside a place can be renamed to a free path: not to another file system, nor to another mount of
 * the same one, which no number tells. So an empty folder goes first.
 */
export function canRename(scope: ChangeScope, place: Place, goal: FolderEntry): boolean {
  const probe = new Draft(scope, place)
  try {
    fileAccess.makeFolder(entryOf(probe), 0o700)
    return isRenamed(entryOf(probe), goal)
  } finally {
    probe.end()
  }
}

function isRenamed(probe: FolderEntry, goal: FolderEntry): boolean {
  try {
    fileAccess.rename(probe, goal)
    fileAccess.removeFolder(goal)
    return true
  } catch (error) {
    fileAccess.removeFolder(probe)
    if (errnoOf(error) === 'EXDEV') return false
    throw error
  }
}
