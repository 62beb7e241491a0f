import { chmodSync, closeSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { errnoOf } from '../../../disk/errno.ts'
import { ToolError } from '../../../errors.ts'
import { fileAccess } from '../access/choose-access.ts'
import { atDescriptor, openFolder } from '../at-descriptor.ts'
import { canRename } from '../change/can-rename.ts'
import { ChangeScope } from '../change/change-scope.ts'
import { changesOf } from '../change/changes.ts'
import { copyTree, type Named } from '../change/copy-tree.ts'
import { deleteTree } from '../change/delete-tree.ts'
import { Draft } from '../change/draft.ts'
import { checkFree, giveFolderName, giveName } from '../change/give-name.ts'
import { takeFolderOwnerAt } from '../change/keep-owner.ts'
import { entryOf, type Place, syncPlace, withPlace } from '../change/place.ts'
import { measureTree, treeDigest } from '../change/tree-digest.ts'
import type { FilesCall, FilesDoor } from '../files-door.ts'
import type { Target } from '../open-roots.ts'
import { quotePath } from '../quote-path.ts'
import { type Found, look } from './look.ts'

/** The part of a handle that only the owner's own calls have: what undo needs beyond the changes of tools. */
export interface RestoreFiles {
  /** What is there now, secrets too: an undo has to know, and tells only whether it is what it was. */
  look(path: string, options?: { readonly digest?: boolean }): Promise<Found>
  /** Makes a folder with these permissions. */
  putFolder(path: string, mode: number): Promise<void>
  /** Moves a tree that a run kept, and that must still have this digest, to a name that is free; copies a part of one. */
  putTree(path: string, kept: KeptTree): Promise<void>
}

interface KeptTree {
  readonly path: string
  readonly digest: string
  /** It is some entry of a kept tree, which stays whole. */
  readonly isPartOfTree?: boolean
}

/** The restoring part of the handle of one call. */
export function restoreHandle(door: FilesDoor, call: FilesCall): RestoreFiles {
  const scope = new ChangeScope(changesOf(door), call)
  const { shared } = scope
  /** Located again when its turn has come: meanwhile the guard may have been closed. */
  const locate = (path: string): Target => {
    const target = door.roots.locate(path)
    door.pass(target, 'write', call)
    return target
  }
  const put = (path: string, work: (place: Place) => Promise<void>) =>
    door.use(path, call, async () => {
      if (shared.swept) await shared.swept
      const inPlace = () =>
        withPlace(scope, locate(path), true, async (place) => {
          checkFree(place)
          await work(place)
          await syncPlace(place)
        })
      return shared.queue([door.roots.locate(path).path], inPlace, call.signal)
    })
  return {
    look: (path, { digest = false } = {}) => door.use(path, call, () => look(scope, locate(path), digest)),
    putFolder: (path, mode) => put(path, (place) => putFolder(scope, place, mode)),
    putTree: (path, kept) => put(path, (place) => putTree(scope, place, kept)),
  }
}

async function putFolder(scope: ChangeScope, { target, parent, name, path }: Place, mode: number): Promise<void> {
  await scope.intend({ op: 'make-folder', path: target.path })
  scope.throwIfAborted()
  fileAccess.makeFolder({ folder: parent, path }, 0o700)
  const folder = openFolder(parent, name)
  if (typeof folder !== 'number') throw new ToolError('CONFLICT', `${quotePath(target.path)} was swapped meanwhile.`)
  try {
    // Over a descriptor, since a name could lead elsewhere by now; mkdir alone would heed the umask.
    fileAccess.change(folder, () => chmodSync(atDescriptor(folder, '.'), mode))
    takeFolderOwnerAt(parent, name)
  } finally {
    closeSync(folder)
  }
}

async function putTree(scope: ChangeScope, place: Place, kept: KeptTree): Promise<void> {
  const digest = await digestOf(kept.path, scope.signal)
  if (digest !== kept.digest) throw new ToolError('CONFLICT', 'The folder that was kept was changed since.')
  const folder = fileAccess.openBase(dirname(kept.path))
  const from = { parent: folder, name: basename(kept.path) }
  try {
    const probe = { folder, path: atDescriptor(folder, `${from.name}.probe`) }
    const isFar = kept.isPartOfTree || !canRename(scope, place, probe)
    if (isFar) return await copyIn(scope, place, from)
    await scope.intend({ op: 'create-tree', path: place.target.path, digest })
    scope.throwIfAborted()
    giveFolderName({ folder, path: atDescriptor(folder, from.name) }, place)
  } finally {
    closeSync(folder)
  }
}

/** From another disk: the copy is whole and on record before it gets its name. */
async function copyIn(scope: ChangeScope, place: Place, from: Named): Promise<void> {
  const { signal } = scope
  const draft = new Draft(scope, place)
  const options = { signal, maxBytes: Number.POSITIVE_INFINITY, admits: () => true, isFaithful: true }
  try {
    await copyTree(from, { parent: place.parent, name: draft.name }, options)
    const { digest, top } = await measureTree(place.parent, draft.name, { signal })
    await scope.intend({ op: 'create-tree', path: place.target.path, digest })
    scope.throwIfAborted()
    if (top.isDirectory()) giveFolderName(entryOf(draft), place)
    else giveName(entryOf(draft), place)
  } finally {
    // Nothing is left of it when it got its name.
    await deleteTree(place.parent, draft.name)
    draft.end()
  }
}

async function digestOf(path: string, signal: AbortSignal): Promise<string> {
  try {
    return await treeDigest(path, signal)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') throw new ToolError('NOT_FOUND', 'The folder that was there is no longer kept.')
    throw error
  }
}
