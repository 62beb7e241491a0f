import { type BigIntStats, closeSync } from 'node:fs'
import { posix } from 'node:path'
import { errnoOf } from '../../../disk/errno.ts'
import { syncFolder } from '../../../disk/sync-folder.ts'
import { ToolError } from '../../../errors.ts'
import { fileAccess } from '../access/choose-access.ts'
import type { FolderEntry } from '../access/file-access.ts'
import { atDescriptor, type Link, openFolder } from '../at-descriptor.ts'
import type { Target } from '../open-roots.ts'
import { quotePath } from '../quote-path.ts'
import { destination, refuseLink } from '../walk.ts'
import type { ChangeScope } from './change-scope.ts'
import { takeFolderOwnerAt } from './keep-owner.ts'

/** A name in a folder that is held open: whatever happens to the folders above, the name stays in this one. */
export interface Place {
  readonly target: Target
  readonly parent: number
  readonly name: string
  /** The name as the system finds it, for a step that `fileAccess` runs. */
  readonly path: string
}

interface MadeFolder {
  readonly above: number
  readonly name: string
}

/**
 * Opens the folder above a target for a change, makes the missing folders on the way when told to, and closes all after
 * the work. Folders that were made for work that failed go away again.
 */
export async function withPlace<T>(
  scope: ChangeScope,
  target: Target,
  mkdirp: boolean,
  work: (place: Place) => Promise<T>,
): Promise<T> {
  const made: MadeFolder[] = []
  // Never the root's own descriptor: a closing guard could hand its number to somebody else meanwhile.
  const held = [accept(scope, target, -1, openFolder(target.root.descriptor, '.'))]
  try {
    for (let index = 0; index < target.names.length - 1; index += 1) {
      const above = held.at(-1)!
      const name = target.names[index]!
      const folder =
        openFolder(above, name) ?? (mkdirp ? await makeFolder(scope, target, index, above, made) : undefined)
      held.push(accept(scope, target, index, folder))
      if (made.at(-1)?.above !== above) closeSync(held.splice(-2, 1)[0]!)
    }
    const parent = held.at(-1)!
    const name = target.names.at(-1) ?? '.'
    return await work({ target, parent, name, path: atDescriptor(parent, name) })
  } catch (error) {
    for (const folder of made.toReversed()) takeBack(folder)
    throw error
  } finally {
    for (const descriptor of held) closeSync(descriptor)
  }
}

/** The name of a place, as a step takes it. */
export function entryOf({ parent, path }: Pick<Place, 'parent' | 'path'>): FolderEntry {
  return { folder: parent, path }
}

/** Whether a path in an open folder still leads to this entry. */
export function isEntryAt(folder: number, path: string, { dev, ino }: Pick<BigIntStats, 'dev' | 'ino'>): boolean {
  const now = fileAccess.statBig(folder, path)
  return now !== undefined && now.ino === ino && now.dev === dev
}

/** Makes the names in a place's folder survive a loss of power. */
export function syncPlace({ parent }: Place): Promise<void> {
  return syncFolder(atDescriptor(parent, '.'))
}

async function makeFolder(
  scope: ChangeScope,
  target: Target,
  index: number,
  above: number,
  made: MadeFolder[],
): Promise<number | Link | undefined> {
  const name = target.names[index]!
  const path = posix.join(target.root.path, ...target.names.slice(0, index + 1))
  const make = async () => {
    // Somebody else may have made it while this one waited.
    const present = openFolder(above, name)
    if (present !== undefined) return present
    await scope.intend({ op: 'make-folder', path })
    scope.throwIfAborted()
    if (mkdir(above, name)) {
      made.push({ above, name })
      takeFolderOwnerAt(above, name)
    }
    await syncFolder(atDescriptor(above, '.'))
    return openFolder(above, name)
  }
  return scope.shared.makingFolders([path], make, scope.call.signal)
}

/** False when another program made it just now; what it made shows when it is opened. */
function mkdir(above: number, name: string): boolean {
  try {
    fileAccess.makeFolder({ folder: above, path: atDescriptor(above, name) })
    return true
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false
    throw error
  }
}

function takeBack({ above, name }: MadeFolder): void {
  try {
    fileAccess.removeFolder({ folder: above, path: atDescriptor(above, name) })
  } catch {
    // Somebody else has put something into it: it is theirs now.
  }
}

function accept(scope: ChangeScope, target: Target, index: number, folder: number | Link | undefined): number {
  if (typeof folder === 'number') return folder
  if (folder) return refuseLink(scope.door.roots, destination(target, index, folder), target)
  throw new ToolError('NOT_FOUND', `The folder above ${quotePath(target.path)} does not exist.`, {
    fix: {
      key: 'mkdirp',
      value: true,
      hint: 'Check the path; a change that makes something can make folders with mkdirp.',
    },
  })
}
