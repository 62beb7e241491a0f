import { type BigIntStats, closeSync } from 'node:fs'
import { type FileState, type RemoveResult, ToolError, type Written } from '../../../core/index.ts'
import { errnoOf, sha256 } from '../../../lib/index.ts'
import { fileAccess } from '../access/choose-access.ts'
import { quotePath } from '../file-error.ts'
import type { FileTarget } from '../open-roots.ts'
import { exactStatAt, readLink } from '../walk.ts'
import { type ChangeScope, checkMayRemove } from './change-scope.ts'
import {
  type CurrentFile,
  changedSinceRead,
  checkUnchanged,
  hashCurrent,
  keepCurrent,
  modeOf,
  openCurrent,
} from './current-file.ts'
import { type FileDraft, putBack, takeAway } from './draft.ts'
import { type ChangePlace, entryOf, refuseRoot, syncPlace, withPlace } from './place.ts'
import { removeFullFolder } from './remove-full-folder.ts'
import { openNamed, sortedNames, toByteName } from './tree.ts'

/** Removes a file, a link (never what it leads to) or a folder; one that is not empty only when told to. */
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

/** Links, pipes and sockets have no content of their own that could be kept. */
async function removeOther(scope: ChangeScope, place: ChangePlace, stats: BigIntStats): Promise<Removed> {
  const link = stats.isSymbolicLink() ? readLink(place.parent, place.name)?.link : undefined
  const before = { sha256: sha256(link ?? ''), bytes: Number(stats.size), mode: modeOf(stats) }
  const notUndoable = link === undefined ? 'it is no regular file' : `it is a link, to ${quotePath(link)}`
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

/** A file on its way out: on record first, then taken away in one step. */
export class FileRemoval {
  readonly place: ChangePlace
  /** Nothing is left of it. */
  readonly written: Written = { bytes: 0, sha256: sha256('') }
  readonly bytes: number
  readonly #before: FileState | undefined
  readonly #scope: ChangeScope
  readonly #current: CurrentFile
  #draft: FileDraft | undefined

  /** Looks at what is to be removed; the creator of the removal closes it. */
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

  /** Keeps the content and puts the removal on record. */
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
