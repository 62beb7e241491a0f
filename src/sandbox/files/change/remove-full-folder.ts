import { closeSync, lstatSync } from 'node:fs'
import { dirname } from 'node:path'
import { type PlaceForTree, type RemoveResult, ToolError } from '../../../core/index.ts'
import { errnoOf } from '../../../lib/index.ts'
import { syncFolder } from '../../../system/index.ts'
import { fileAccess } from '../access/choose-access.ts'
import { quotePath } from '../file-error.ts'
import type { FileTarget } from '../open-roots.ts'
import { atDescriptor } from '../walk.ts'
import type { ChangeScope } from './change-scope.ts'
import { copyTree, type Named } from './copy-tree.ts'
import { changedSinceRead } from './current-file.ts'
import { canRename, putBack, takeAway } from './draft.ts'
import { type ChangePlace, entryBelow, entryOf, isEntryAt, refuseRoot } from './place.ts'
import { type ByteName, deleteTree, measureTree, type TreeMeasure } from './tree.ts'

/** Takes a folder with all below it away in one step, to where it is kept when there is such a place. */
export async function removeFullFolder(scope: ChangeScope, place: ChangePlace): Promise<Omit<RemoveResult, 'path'>> {
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

async function keep(scope: ChangeScope, place: ChangePlace, measure: TreeMeasure, kept: Kept): Promise<void> {
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

/** Permission for a folder does not cover protected entries below it, or those that a rule forbids. */
function checkEntry({ call, filesRoot }: ChangeScope, top: FileTarget, names: readonly ByteName[]): void {
  if (names.length === 0) return
  const target = entryBelow(filesRoot, top, names)
  refuseRoot(target)
  filesRoot.pass(target, 'overwrite', call)
}

async function moveOut(scope: ChangeScope, place: ChangePlace, { digest, bytes, top }: TreeMeasure, kept: Named) {
  await scope.intend({ op: 'remove-tree', path: place.target.path, digest, bytes }, { tree: kept.name })
  scope.throwIfAborted()
  const path = atDescriptor(kept.parent, kept.name)
  fileAccess.rename(entryOf(place), { folder: kept.parent, path })
  if (!isEntryAt(kept.parent, path, top)) {
    fileAccess.rename({ folder: kept.parent, path }, entryOf(place))
    throw changedSinceRead(place)
  }
  await syncFolder(atDescriptor(kept.parent, '.'))
}

/** To another disk. From the moment the copy is on record it stays, whatever becomes of the originals. */
async function copyOut(scope: ChangeScope, place: ChangePlace, measure: TreeMeasure, kept: Named): Promise<void> {
  await copyWhole(scope, place, measure, kept).catch(async (error) => {
    await deleteTree(kept.parent, kept.name)
    throw error
  })
  scope.throwIfAborted()
  await takeAndDelete(scope, place, measure, 'tool-hub undo brings back what is missing.')
}

/** Copies a folder to where it is kept and puts that on record; on the disk itself before anything goes. */
async function copyWhole(scope: ChangeScope, place: ChangePlace, measure: TreeMeasure, copy: Named): Promise<void> {
  const { signal } = scope
  await copyTree(place, copy, { signal, maxBytes: measure.bytes, admits: () => true, isFaithful: true })
  const { digest } = await measureTree(copy.parent, copy.name, { signal })
  const now = await measureTree(place.parent, place.name, { signal })
  if (now.digest !== measure.digest) throw changedSinceRead(place)
  await syncFolder(atDescriptor(copy.parent, '.'))
  const change = { op: 'remove-tree', path: place.target.path, digest, bytes: measure.bytes } as const
  await scope.intend(change, { tree: copy.name })
}

async function discard(
  scope: ChangeScope,
  place: ChangePlace,
  measure: TreeMeasure,
  notUndoable: string,
): Promise<void> {
  const { digest, bytes } = measure
  await scope.intend({ op: 'remove-tree', path: place.target.path, digest, bytes }, { notUndoable })
  scope.throwIfAborted()
  await takeAndDelete(scope, place, measure, 'What is gone was not kept.')
}

/** One step for an observer; the deleting after it is not stopped half way. `hint` is for one that fails half way. */
export async function takeAndDelete(
  scope: ChangeScope,
  place: ChangePlace,
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
