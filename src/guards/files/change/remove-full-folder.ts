import { closeSync, lstatSync } from 'node:fs'
import { dirname } from 'node:path'
import type { PlaceForTree } from '../../../change.ts'
import type { RemoveResult } from '../../../contracts/handles.ts'
import { errnoOf } from '../../../disk/errno.ts'
import { syncFolder } from '../../../disk/sync-folder.ts'
import { ToolError } from '../../../errors.ts'
import { fileAccess } from '../access/choose-access.ts'
import { atDescriptor } from '../at-descriptor.ts'
import type { Target } from '../open-roots.ts'
import { quotePath } from '../quote-path.ts'
import { canRename } from './can-rename.ts'
import type { ChangeScope } from './change-scope.ts'
import { copyTree, type Named } from './copy-tree.ts'
import { changed } from './current-file.ts'
import { deleteTree } from './delete-tree.ts'
import { entryBelow } from './entry-below.ts'
import { entryOf, isEntryAt, type Place } from './place.ts'
import { refuseRoot } from './refuse-target.ts'
import { putBack, takeAway } from './take-away.ts'
import { measureTree, type TreeMeasure } from './tree-digest.ts'
import type { ByteName } from './tree-entries.ts'

/** Takes a folder with all below it away in one step, to where it is kept when there is such a place. */
export async function removeFullFolder(scope: ChangeScope, place: Place): Promise<Omit<RemoveResult, 'path'>> {
  const measure = await measureTree(place.parent, place.name, {
    signal: scope.signal,
    onEntry: (names) => checkEntry(scope, place.target, names),
  })
  const kept = await scope.placeForTree(measure.bytes)
  if ('refusal' in kept) await discard(scope, place, measure, kept.refusal)
  else await keep(scope, place, measure, kept)
  return { type: 'directory', files: measure.files, bytes: measure.bytes }
}

type Kept = Extract<PlaceForTree, { readonly path: string }>

async function keep(scope: ChangeScope, place: Place, measure: TreeMeasure, kept: Kept): Promise<void> {
  try {
    await inKeptFolder(kept, async (folder) => {
      const isNear = canRename(scope, place, { folder, path: atDescriptor(folder, kept.name) })
      await (isNear ? moveOut : copyOut)(scope, place, measure, { parent: folder, name: kept.name })
    })
  } catch (error) {
    if (!lstatSync(kept.path, { throwIfNoEntry: false })) kept.release?.()
    throw error
  }
}

async function inKeptFolder(kept: Kept, work: (folder: number) => Promise<void>): Promise<void> {
  const folder = fileAccess.openBase(dirname(kept.path))
  await work(folder).finally(() => closeSync(folder))
}

/** The leave for a folder is no leave for what is protected, or forbidden by a rule, below it. */
function checkEntry({ call, door }: ChangeScope, top: Target, names: readonly ByteName[]): void {
  if (names.length === 0) return
  const target = entryBelow(door, top, names)
  refuseRoot(target)
  door.pass(target, 'overwrite', call)
}

async function moveOut(scope: ChangeScope, place: Place, { digest, bytes, top }: TreeMeasure, kept: Named) {
  await scope.intend({ op: 'remove-tree', path: place.target.path, digest, bytes }, { tree: kept.name })
  scope.throwIfAborted()
  const path = atDescriptor(kept.parent, kept.name)
  fileAccess.rename(entryOf(place), { folder: kept.parent, path })
  if (!isEntryAt(kept.parent, path, top)) {
    fileAccess.rename({ folder: kept.parent, path }, entryOf(place))
    throw changed(place)
  }
  await syncFolder(atDescriptor(kept.parent, '.'))
}

/** To another disk. From the moment the copy is on record it stays, whatever becomes of the originals. */
async function copyOut(scope: ChangeScope, place: Place, measure: TreeMeasure, kept: Named): Promise<void> {
  await copyWhole(scope, place, measure, kept).catch(async (error) => {
    await deleteTree(kept.parent, kept.name)
    throw error
  })
  scope.throwIfAborted()
  await takeAndDelete(scope, place, measure, 'tool-hub undo brings back what is missing.')
}

/** Copies a folder to where it is kept and puts that on record; on the disk itself before anything goes. */
async function copyWhole(scope: ChangeScope, place: Place, measure: TreeMeasure, copy: Named): Promise<void> {
  const { signal } = scope
  await copyTree(place, copy, { signal, maxBytes: measure.bytes, admits: () => true, isFaithful: true })
  const { digest } = await measureTree(copy.parent, copy.name, { signal })
  const now = await measureTree(place.parent, place.name, { signal })
  if (now.digest !== measure.digest) throw changed(place)
  await syncFolder(atDescriptor(copy.parent, '.'))
  const change = { op: 'remove-tree', path: place.target.path, digest, bytes: measure.bytes } as const
  await scope.intend(change, { tree: copy.name })
}

async function discard(scope: ChangeScope, place: Place, measure: TreeMeasure, notUndoable: string): Promise<void> {
  const { digest, bytes } = measure
  await scope.intend({ op: 'remove-tree', path: place.target.path, digest, bytes }, { notUndoable })
  scope.throwIfAborted()
  await takeAndDelete(scope, place, measure, 'What is gone was not kept.')
}

/** One step for whoever looks; the deleting after it is not stopped half way. `hint` is for one that fails half way. */
export async function takeAndDelete(
  scope: ChangeScope,
  place: Place,
  { top }: TreeMeasure,
  hint: string,
): Promise<void> {
  const draft = takeAway(scope, place, top)
  try {
    await deleteTree(place.parent, draft.name)
  } catch (error) {
    // What cannot be deleted must not stay hidden under a draft's name.
    putBack(place, draft, top.isDirectory())
    const what = `Only a part of ${quotePath(place.target.path)} could be removed`
    throw new ToolError('UPSTREAM_ERROR', `${what} (${errnoOf(error)}); the rest stands where it was.`, {
      hint,
      retryable: false,
      cause: error,
    })
  }
  draft.end()
}
