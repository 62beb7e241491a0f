import { type BigIntStats, closeSync } from 'node:fs'
import { posix } from 'node:path'
import { ToolError } from '../../../core/index.ts'
import { errnoOf, isWithin } from '../../../lib/index.ts'
import { syncFolder } from '../../../system/index.ts'
import { fileAccess } from '../access/choose-access.ts'
import type { FolderEntry } from '../access/file-access.ts'
import { quotePath } from '../file-error.ts'
import type { Access, FilesRoot } from '../files-root.ts'
import type { FileTarget } from '../open-roots.ts'
import { atDescriptor, destination, type LinkTarget, openFolder, refuseLink } from '../walk.ts'
import type { ChangeScope } from './change-scope.ts'
import { takeFolderOwnerAt } from './keep-owner.ts'
import { type ByteName, toText } from './tree.ts'

/** A name in a folder that is held open: whatever happens to the folders above, the name stays in this one. */
export interface ChangePlace {
  readonly target: FileTarget
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
  target: FileTarget,
  mkdirp: boolean,
  work: (place: ChangePlace) => Promise<T>,
): Promise<T> {
  const made: MadeFolder[] = []
  // Never the root's own descriptor: after the guard is closed, its number may be reused.
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
export function entryOf({ parent, path }: Pick<ChangePlace, 'parent' | 'path'>): FolderEntry {
  return { folder: parent, path }
}

/** Whether a path in an open folder still leads to this entry. */
export function isEntryAt(folder: number, path: string, { dev, ino }: Pick<BigIntStats, 'dev' | 'ino'>): boolean {
  const now = fileAccess.statBig(folder, path)
  return now !== undefined && now.ino === ino && now.dev === dev
}

/** Makes the names in a place's folder survive a loss of power. */
export function syncPlace({ parent }: ChangePlace): Promise<void> {
  return syncFolder(atDescriptor(parent, '.'))
}

async function makeFolder(
  scope: ChangeScope,
  target: FileTarget,
  index: number,
  above: number,
  made: MadeFolder[],
): Promise<number | LinkTarget | undefined> {
  const name = target.names[index]!
  const path = posix.join(target.root.path, ...target.names.slice(0, index + 1))
  const make = async () => {
    // Another change may have created it meanwhile.
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
    // Another program has put something into it, so it stays.
  }
}

function accept(
  scope: ChangeScope,
  target: FileTarget,
  index: number,
  folder: number | LinkTarget | undefined,
): number {
  if (typeof folder === 'number') return folder
  if (folder) return refuseLink(scope.filesRoot.roots, destination(target, index, folder), target)
  throw new ToolError('NOT_FOUND', `The folder above ${quotePath(target.path)} does not exist.`, {
    fix: {
      key: 'mkdirp',
      value: true,
      hint: 'Check the path; a change that makes something can make folders with mkdirp.',
    },
  })
}

/** Refuses a path that can only mean a folder where a file is to be written. */
export function refuseFolderName({ names, saysFolder, path }: FileTarget): void {
  if (names.length > 0 && !saysFolder) return
  throw new ToolError('INPUT_SCHEMA_INVALID', `${quotePath(path)} is a folder, not a file.`)
}

/** Refuses to move or remove a root: the ground that everything else stands on. */
export function refuseRoot({ names, path }: FileTarget): void {
  if (names.length > 0) return
  throw new ToolError('PATH_DENIED', `${quotePath(path)} is a root of the sandbox; it stays where it is.`)
}

/** Refuses to put a folder into itself. */
export function refuseIntoItself(from: FileTarget, to: FileTarget): void {
  if (to.path === from.path || !isWithin(from.path, to.path)) return
  throw new ToolError('INPUT_SCHEMA_INVALID', `${quotePath(to.path)} is inside of ${quotePath(from.path)}.`, {
    hint: 'Choose a place outside of the folder.',
  })
}

/** The target of an entry below another one; it may belong to a root inside of that root. */
export function entryBelow({ roots }: FilesRoot, top: FileTarget, names: readonly ByteName[]): FileTarget {
  return names.length === 0 ? top : roots.locateLink(posix.join(top.path, ...names.map(toText)), top)
}

/** Whether a target is open by default. */
export function isAdmitted(filesRoot: FilesRoot, target: FileTarget, access: Access): boolean {
  try {
    filesRoot.admit(target, access)
    return true
  } catch (error) {
    if (ToolError.is(error)) return false
    throw error
  }
}
