import { type BigIntStats, closeSync, lstatSync } from 'node:fs'
import { dirname } from 'node:path'
import { type FileState, type PlaceForTree, type RemoveResult, ToolError, type Written } from '@tool-hub/core'
import { errnoOf, sha256 } from '@tool-hub/core/lib'
import { syncFolder } from '../../system/index.ts'
import { fileAccess } from '../access/choose-access.ts'
import { quotePath } from '../file-error.ts'
import type { FileTarget } from '../roots.ts'
import { atDescriptor, exactStatAt, readLink } from '../walk.ts'
import { type ChangeScope, checkMayRemove } from './change-scope.ts'
import { copyTree, type Named } from './copy-tree.ts'
import { canRename, type FileDraft, putBack, takeAway } from './draft.ts'
import {
  type ChangePlace,
  type CurrentFile,
  changedSinceRead,
  checkUnchanged,
  entryBelow,
  entryOf,
  hashCurrent,
  isEntryAt,
  keepCurrent,
  modeOf,
  openCurrent,
  refuseRoot,
  syncPlace,
  withPlace,
} from './place.ts'
import { type ByteName, deleteTree, measureTree, openNamed, sortedNames, type TreeMeasure, toByteName } from './tree.ts'

/** Removes a file, a link (never its target) or a folder; one that is not empty only with `recursive`. */
export async function removePath(scope: ChangeScope, target: FileTarget, recursive: boolean): Promise<RemoveResult> {
  refuseRoot(target)
  checkMayRemove(scope, target)
  return withPlace(scope, target, false, async (place) => {
    const stats = exactStatAt(place.parent, place.name)
    if (!stats || (target.saysFolder && !stats.isDirectory())) {
      throw new ToolError('NOT_FOUND', `${quotePath(target.path)} does not exist.`)
    }
    const removed = await removeEntry(scope, place, stats, recursive)
    await syncPlace(place)
    return { path: target.path, ...removed }
  })
}

type Removed = Omit<RemoveResult, 'path'>

function removeEntry(scope: ChangeScope, place: ChangePlace, stats: BigIntStats, recursive: boolean): Promise<Removed> {
  if (stats.isFile()) return removeFile(scope, place)
  if (!stats.isDirectory()) return removeOther(scope, place, stats)
  if (isEmpty(place)) return removeEmptyFolder(scope, place, stats)
  if (recursive) return removeFullFolder(scope, place)
  throw notEmpty(place)
}

async function removeFile(scope: ChangeScope, place: ChangePlace): Promise<Removed> {
  const removal = await FileRemoval.prepare(scope, place)
  try {
    await removal.keep()
    scope.throwIfAborted()
    removal.apply()
  } finally {
    await removal.close()
  }
  return { type: 'file', files: 1, bytes: removal.bytes }
}

/** Links, pipes and sockets have no content that could be backed up. */
async function removeOther(scope: ChangeScope, place: ChangePlace, stats: BigIntStats): Promise<Removed> {
  const link = stats.isSymbolicLink() ? readLink(place.parent, place.name)?.link : undefined
  const before = { sha256: sha256(link ?? ''), bytes: Number(stats.size), mode: modeOf(stats) }
  const notUndoable = link === undefined ? 'it is not a regular file' : `it is a link, to ${quotePath(link)}`
  await scope.intend({ op: 'remove', path: place.target.path, before }, { notUndoable })
  scope.throwIfAborted()
  takeAway(scope, place, stats).remove()
  return { type: link === undefined ? 'other' : 'symlink', files: 1, bytes: 0 }
}

async function removeEmptyFolder(scope: ChangeScope, place: ChangePlace, stats: BigIntStats): Promise<Removed> {
  await scope.intend({ op: 'remove-folder', path: place.target.path, mode: modeOf(stats) })
  scope.throwIfAborted()
  try {
    fileAccess.removeFolder(entryOf(place))
  } catch (error) {
    throw errnoOf(error) === 'ENOTEMPTY' ? notEmpty(place) : error
  }
  return { type: 'directory', files: 0, bytes: 0 }
}

function isEmpty({ parent, name }: ChangePlace): boolean {
  const folder = openNamed(parent, toByteName(name))
  try {
    return sortedNames(folder).length === 0
  } finally {
    closeSync(folder)
  }
}

function notEmpty({ target }: ChangePlace): ToolError {
  return new ToolError('CONFLICT', `${quotePath(target.path)} is a folder that is not empty.`, {
    fix: { key: 'recursive', value: true, hint: 'Look what is in it; remove it with recursive when all of it may go.' },
  })
}

/** The removal of a file: put on record first, then taken away in one step. */
export class FileRemoval {
  readonly place: ChangePlace
  /** Nothing is left of it. */
  readonly written: Written = { bytes: 0, sha256: sha256('') }
  readonly bytes: number
  readonly #before: FileState | undefined
  readonly #scope: ChangeScope
  readonly #current: CurrentFile
  #draft: FileDraft | undefined

  /** Inspects what will be removed; the creator of the removal closes it. */
  static async prepare(scope: ChangeScope, place: ChangePlace, replaces?: string): Promise<FileRemoval> {
    const current = openCurrent(scope, place)
    if (!current) throw new ToolError('NOT_FOUND', `${quotePath(place.target.path)} does not exist.`)
    try {
      const before = await hashCurrent(scope, current, replaces !== undefined)
      if (replaces !== undefined && before?.sha256 !== replaces) throw changedSinceRead(place)
      return new FileRemoval(scope, place, current, before)
    } catch (error) {
      closeSync(current.descriptor)
      throw error
    }
  }

  private constructor(scope: ChangeScope, place: ChangePlace, current: CurrentFile, before: FileState | undefined) {
    this.#scope = scope
    this.place = place
    this.#current = current
    this.#before = before
    this.bytes = Number(current.stats.size)
  }

  /** Backs up the content and puts the removal on record. */
  async keep(): Promise<void> {
    const { before, notUndoable } = await keepCurrent(this.#scope, this.place, this.#current, this.#before)
    await this.#scope.intend({ op: 'remove', path: this.place.target.path, before }, { notUndoable })
  }

  /** Nothing to do: `apply` keeps the file under a draft's name until the end. */
  async secure(): Promise<void> {}

  apply(): void {
    checkUnchanged(this.place, this.#current.stats)
    this.#draft = takeAway(this.#scope, this.place, this.#current.stats)
  }

  /** Undoes `apply`. */
  takeBack(): void {
    if (this.#draft) putBack(this.place, this.#draft, false)
  }

  /** Removes for good what was taken away. */
  async close(): Promise<void> {
    closeSync(this.#current.descriptor)
    this.#draft?.remove()
  }
}

/** Takes away a folder with its content in one step, to the backup folder if there is one. */
async function removeFullFolder(scope: ChangeScope, place: ChangePlace): Promise<Omit<RemoveResult, 'path'>> {
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

/** To another disk. Once the copy is on record it stays, whatever happens to the originals. */
async function copyOut(scope: ChangeScope, place: ChangePlace, measure: TreeMeasure, kept: Named): Promise<void> {
  await copyWhole(scope, place, measure, kept).catch(async (error) => {
    await deleteTree(kept.parent, kept.name)
    throw error
  })
  scope.throwIfAborted()
  await takeAndDelete(scope, place, measure, 'tool-hub undo brings back what is missing.')
}

/** Copies a folder to the backup folder and puts that on record; durable before anything is removed. */
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

/** Atomic for an observer; the deletion after it is not aborted half way. `hint` is for a deletion that fails half way. */
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
