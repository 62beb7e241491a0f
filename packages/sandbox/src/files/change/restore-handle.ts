import { chmodSync, closeSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { ToolError } from '@tool-hub/core'
import { errnoOf } from '@tool-hub/core/lib'
import { fileAccess } from '../access/choose-access.ts'
import { quotePath } from '../file-error.ts'
import type { FilesCall } from '../files-call.ts'
import type { FileTarget } from '../roots.ts'
import { atDescriptor, openFolder, readLink, statAt } from '../walk.ts'
import { ChangeScope, type SharedChanges } from './change-scope.ts'
import { copyTree, type Named } from './copy-tree.ts'
import { canRename, checkFree, FileDraft, giveFolderName, giveName } from './draft.ts'
import { takeFolderOwnerAt } from './file-owner.ts'
import { type ChangePlace, entryOf, modeOf, openCurrent, stateOf, syncPlace, withPlace } from './place.ts'
import { deleteTree, inNamed, measureTree, sortedNames, toByteName, toText, treeDigest } from './tree.ts'

/** The part of a handle that only the owner's own calls have: what undo needs in addition to the changes of tools. */
export interface RestoreFiles {
  /** The current entry, including secrets: an undo has to compare it, and reports only whether it is unchanged. */
  look(path: string, options?: { readonly digest?: boolean }): Promise<FoundEntry>
  /** Creates a folder with these permissions. */
  putFolder(path: string, mode: number): Promise<void>
  /** Moves a tree that a run kept, and that must still have this digest, to a free name; a part of a tree is copied. */
  putTree(path: string, kept: KeptTree): Promise<void>
}

interface KeptTree {
  readonly path: string
  readonly digest: string
  /** An entry of a kept tree, which stays complete. */
  readonly isPartOfTree?: boolean
}

/** The restoring part of the handle of one call. */
export function restoreHandle(shared: SharedChanges, call: FilesCall): RestoreFiles {
  const scope = new ChangeScope(shared, call)
  const { filesRoot } = shared
  const put = (path: string, work: (place: ChangePlace) => Promise<void>) =>
    scope.change(path, [path], async ([target]) => {
      filesRoot.pass(target!, 'write', call)
      await withPlace(scope, target!, true, async (place) => {
        checkFree(place)
        await work(place)
        await syncPlace(place)
      })
    })
  return {
    look: (path, { digest = false } = {}) =>
      filesRoot.use(path, call, async () => {
        const target = filesRoot.roots.locate(path)
        filesRoot.pass(target, 'write', call)
        return look(scope, target, digest)
      }),
    putFolder: (path, mode) => put(path, (place) => putFolder(scope, place, mode)),
    putTree: (path, kept) => put(path, (place) => putTree(scope, place, kept)),
  }
}

async function putFolder(scope: ChangeScope, { target, parent, name, path }: ChangePlace, mode: number): Promise<void> {
  await scope.intend({ op: 'make-folder', path: target.path })
  scope.throwIfAborted()
  fileAccess.makeFolder({ folder: parent, path }, 0o700)
  const folder = openFolder(parent, name)
  if (typeof folder !== 'number') throw new ToolError('CONFLICT', `${quotePath(target.path)} was swapped meanwhile.`)
  try {
    // By descriptor, since the name could lead elsewhere by now; mkdir alone would apply the umask.
    fileAccess.change(folder, () => chmodSync(atDescriptor(folder, '.'), mode))
    takeFolderOwnerAt(parent, name)
  } finally {
    closeSync(folder)
  }
}

async function putTree(scope: ChangeScope, place: ChangePlace, kept: KeptTree): Promise<void> {
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

/** From another disk: the copy is complete and on record before it gets its name. */
async function copyIn(scope: ChangeScope, place: ChangePlace, from: Named): Promise<void> {
  const { signal } = scope
  const draft = new FileDraft(scope, place)
  const options = { signal, maxBytes: Number.POSITIVE_INFINITY, admits: () => true, isFaithful: true }
  try {
    await copyTree(from, { parent: place.parent, name: draft.name }, options)
    const { digest, top } = await measureTree(place.parent, draft.name, { signal })
    await scope.intend({ op: 'create-tree', path: place.target.path, digest })
    scope.throwIfAborted()
    if (top.isDirectory()) giveFolderName(entryOf(draft), place)
    else giveName(entryOf(draft), place)
  } finally {
    // Nothing is left of it once it has its own name.
    await deleteTree(place.parent, draft.name)
    draft.end()
  }
}

async function digestOf(path: string, signal: AbortSignal): Promise<string> {
  try {
    return await treeDigest(path, signal)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') throw new ToolError('NOT_FOUND', 'The previous folder has been deleted.')
    throw error
  }
}

/** The entry at a path; a link is not followed. `digest` is set if it was requested. */
export type FoundEntry =
  | { readonly type: 'absent' }
  | { readonly type: 'file'; readonly sha256: string; readonly mode: number; readonly digest?: string }
  | { readonly type: 'folder'; readonly names: readonly string[]; readonly digest?: string }
  | { readonly type: 'link'; readonly to: string; readonly digest?: string }
  | { readonly type: 'other' }

/** Inspects a target as a change would find it: by descriptors, whatever its name. */
async function look(scope: ChangeScope, target: FileTarget, withDigest: boolean): Promise<FoundEntry> {
  if (target.names.length === 0) return { type: 'other' }
  try {
    return await withPlace(scope, target, false, (place) => lookAt(scope, place, withDigest))
  } catch (error) {
    const isMissing = (ToolError.is(error) && error.code === 'NOT_FOUND') || errnoOf(error) === 'ENOENT'
    if (isMissing || errnoOf(error) === 'ENOTDIR') return { type: 'absent' }
    throw error
  }
}

async function lookAt(scope: ChangeScope, place: ChangePlace, withDigest: boolean): Promise<FoundEntry> {
  const stats = statAt(place.parent, place.name)
  if (!stats) return { type: 'absent' }
  if (!stats.isFile() && !stats.isDirectory() && !stats.isSymbolicLink()) return { type: 'other' }
  const { signal } = scope
  const digest = withDigest ? { digest: (await measureTree(place.parent, place.name, { signal })).digest } : {}
  if (stats.isFile()) return { ...(await lookAtFile(scope, place)), ...digest }
  const link = stats.isSymbolicLink() && readLink(place.parent, place.name)
  if (link) return { type: 'link', to: link.link, ...digest }
  const names = await inNamed(place.parent, toByteName(place.name), async (folder) => sortedNames(folder).map(toText))
  return { type: 'folder', names, ...digest }
}

async function lookAtFile(scope: ChangeScope, place: ChangePlace): Promise<FoundEntry> {
  const current = openCurrent(scope, place)
  if (!current) return { type: 'absent' }
  try {
    const { sha256 } = await stateOf(current, scope.signal)
    return { type: 'file', sha256, mode: modeOf(current.stats) }
  } finally {
    closeSync(current.descriptor)
  }
}
