import { closeSync, constants, lstatSync, openSync, renameSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { syncFolder } from '../../../disk/sync-folder.ts'
import { ToolError } from '../../../errors.ts'
import type { RemoveResult } from '../../../handles.ts'
import { O_PATH } from '../at-descriptor.ts'
import type { Target } from '../open-roots.ts'
import { canRename } from './can-rename.ts'
import type { ChangeScope } from './change-scope.ts'
import { copyTree } from './copy-tree.ts'
import { changed, isSame } from './current-file.ts'
import { deleteTree } from './delete-tree.ts'
import { entryBelow } from './entry-below.ts'
import type { Place } from './place.ts'
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
  else if (canRename(scope, place, kept.path)) await moveOut(scope, place, measure, kept)
  else await copyOut(scope, place, measure, kept)
  return { type: 'directory', files: measure.files, bytes: measure.bytes }
}

interface Kept {
  readonly path: string
  readonly name: string
}

/** The leave for a folder is no leave for what is protected, or forbidden by a rule, below it. */
function checkEntry({ call, door }: ChangeScope, top: Target, names: readonly ByteName[]): void {
  if (names.length === 0) return
  const target = entryBelow(door, top, names)
  refuseRoot(target)
  door.pass(target, 'overwrite', call)
}

async function moveOut(scope: ChangeScope, place: Place, { digest, bytes, top }: TreeMeasure, kept: Kept) {
  await scope.intend({ op: 'remove-tree', path: place.target.path, digest, bytes }, { tree: kept.name })
  scope.throwIfAborted()
  renameSync(place.path, kept.path)
  if (!isSame(lstatSync(kept.path, { bigint: true }), top)) {
    renameSync(kept.path, place.path)
    throw changed(place)
  }
  await syncFolder(dirname(kept.path))
}

/** To another disk: the copy is whole and on record before anything goes. */
async function copyOut(scope: ChangeScope, place: Place, measure: TreeMeasure, kept: Kept): Promise<void> {
  const parent = openSync(dirname(kept.path), O_PATH | constants.O_DIRECTORY)
  const copy = { parent, name: basename(kept.path) }
  try {
    await copyTree(place, copy, {
      signal: scope.signal,
      maxBytes: measure.bytes,
      admits: () => true,
      isFaithful: true,
    })
    const { digest } = await measureTree(parent, copy.name, { signal: scope.signal })
    const now = await measureTree(place.parent, place.name, { signal: scope.signal })
    if (now.digest !== measure.digest) throw changed(place)
    const change = { op: 'remove-tree', path: place.target.path, digest, bytes: measure.bytes } as const
    await scope.intend(change, { tree: kept.name })
    scope.throwIfAborted()
    await takeAndDelete(scope, place, measure)
  } catch (error) {
    await deleteTree(parent, copy.name)
    throw error
  } finally {
    closeSync(parent)
  }
}

async function discard(scope: ChangeScope, place: Place, measure: TreeMeasure, notUndoable: string): Promise<void> {
  const { digest, bytes } = measure
  await scope.intend({ op: 'remove-tree', path: place.target.path, digest, bytes }, { notUndoable })
  scope.throwIfAborted()
  await takeAndDelete(scope, place, measure)
}

/** One step for whoever looks; the deleting after it is not stopped half way. */
export async function takeAndDelete(scope: ChangeScope, place: Place, { top }: TreeMeasure): Promise<void> {
  const draft = takeAway(scope, place, top)
  try {
    await deleteTree(place.parent, draft.name)
  } catch (error) {
    // What cannot be deleted must not stay hidden under a draft's name.
    putBack(place, draft, top.isDirectory())
    throw new ToolError('UPSTREAM_ERROR', 'Only a part could be removed; the rest stands where it was.', {
      cause: error,
    })
  }
  draft.end()
}
