import { type BigIntStats, closeSync, constants } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { posix } from 'node:path'
import { ToolError } from '@tool-hub/core'
import { errnoOf } from '@tool-hub/core/lib'
import { fileAccess } from '../access/choose-access.ts'
import type { FolderEntry } from '../access/path-access.ts'
import { newDraftName } from '../access/steady-changes.ts'
import { quotePath } from '../file-error.ts'
import { atDescriptor, statAt } from '../walk.ts'
import type { ChangeScope } from './change-scope.ts'
import { keepOwner } from './file-owner.ts'
import { type ChangePlace, type CurrentFile, changedSinceRead, entryOf, isEntryAt, modeOf, piecesOf } from './place.ts'

/** A temporary name next to a place, for a file that is unfinished or about to be removed; recorded before it is used. */
export class FileDraft {
  readonly name = newDraftName()
  /** Its path for system calls. */
  readonly path: string
  readonly parent: number
  readonly #end: () => void
  #isEnded = false

  constructor({ shared }: ChangeScope, { target, parent }: ChangePlace) {
    this.parent = parent
    this.path = atDescriptor(parent, this.name)
    this.#end = shared.ledger.begin(posix.join(posix.dirname(target.path), this.name))
  }

  /** Ends the draft: what had its name got its own name, or was never created. */
  end(): void {
    if (!this.#isEnded) this.#end()
    this.#isEnded = true
  }

  /** Removes the file that has the name, if there is one. Does nothing for a draft that has ended. */
  remove(): void {
    if (this.#isEnded) return
    try {
      fileAccess.unlink({ folder: this.parent, path: this.path })
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error
    }
    this.end()
  }
}

/**
 * Renames an entry to a draft in one step and verifies that it is the expected one: what somebody else put there meanwhile
 * gets its own name again. The caller removes what then has the draft's name.
 */
export function takeAway(scope: ChangeScope, place: ChangePlace, expected: BigIntStats): FileDraft {
  const draft = new FileDraft(scope, place)
  try {
    fileAccess.rename(entryOf(place), entryOf(draft))
  } catch (error) {
    draft.end()
    throw error
  }
  if (isEntryAt(place.parent, draft.path, expected)) return draft
  putBack(place, draft, expected.isDirectory())
  throw changedSinceRead(place)
}

/** Restores the name of what was taken away, unless the name is in use. */
export function putBack(place: ChangePlace, draft: FileDraft, isFolder: boolean): void {
  if (isFolder) {
    // Fails by itself on anything but an empty folder.
    fileAccess.rename(entryOf(draft), entryOf(place))
    draft.end()
    return
  }
  giveName(entryOf(draft), place)
  draft.remove()
}

const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL

/** The errors of systems without hard links, or without them for this file or this user. */
const CANNOT_LINK = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV'])

/**
 * Gives a file the name of a place, which must be free: link fails where rename would replace what appeared meanwhile.
 * The old name may no longer exist afterwards.
 */
export function giveName(entry: FolderEntry, place: ChangePlace): void {
  try {
    fileAccess.link(entry, entryOf(place))
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') throw existsAlready(place)
    if (!CANNOT_LINK.has(errnoOf(error))) throw error
    reserve(place)
    takeReserved(entry, place)
  }
}

/** Gives a folder the name of a place, which must be free. */
export function giveFolderName(entry: FolderEntry, place: ChangePlace): void {
  checkFree(place)
  try {
    // What appears after the check is not lost: rename fails on a file and on a folder that is not empty.
    fileAccess.rename(entry, entryOf(place))
  } catch (error) {
    throw ['EEXIST', 'ENOTEMPTY', 'ENOTDIR'].includes(errnoOf(error)) ? existsAlready(place) : error
  }
}

/** Throws CONFLICT if the name is in use. */
export function checkFree(place: ChangePlace): void {
  if (statAt(place.parent, place.name)) throw existsAlready(place)
}

/** The error for a name that is in use. */
export function existsAlready({ target }: ChangePlace): ToolError {
  return new ToolError('CONFLICT', `${quotePath(target.path)} exists already.`, {
    fix: { key: 'overwrite', value: true, hint: 'Choose another name, or overwrite on purpose.' },
  })
}

function reserve(place: ChangePlace): void {
  try {
    closeSync(fileAccess.open(place.parent, place.path, CREATE, 0o600))
  } catch (error) {
    throw errnoOf(error) === 'EEXIST' ? existsAlready(place) : error
  }
}

function takeReserved(entry: FolderEntry, place: ChangePlace): void {
  try {
    fileAccess.rename(entry, entryOf(place))
  } catch (error) {
    fileAccess.unlink(entryOf(place))
    throw error
  }
}

/** Creates a hard link to the file at a place; a copy where the system does not support that. */
export async function backUpFile(
  place: ChangePlace,
  current: CurrentFile,
  draft: FileDraft,
  signal: AbortSignal,
): Promise<void> {
  try {
    fileAccess.link(entryOf(place), entryOf(draft))
  } catch (error) {
    if (!CANNOT_LINK.has(errnoOf(error))) throw error
    return copyCurrent(current, await fileAccess.openHandle(place.parent, draft.path, CREATE, 0o600), signal)
  }
  if (!isEntryAt(place.parent, draft.path, current.stats)) throw changedSinceRead(place)
}

/** What is written to the file meanwhile is found before it is replaced. */
async function copyCurrent({ descriptor, stats }: CurrentFile, copy: FileHandle, signal: AbortSignal): Promise<void> {
  try {
    for await (const piece of piecesOf(descriptor, Number(stats.size), signal)) await copy.writeFile(piece)
    keepOwner(copy.fd, stats)
    await copy.chmod(modeOf(stats))
    await copy.sync()
  } finally {
    await copy.close()
  }
}

/**
 * Whether an entry next to a place can be renamed to a free path: not to another file system, nor to another mount of
 * the same one, which no device number shows. An empty folder is renamed first to find out.
 */
export function canRename(scope: ChangeScope, place: ChangePlace, goal: FolderEntry): boolean {
  const probe = new FileDraft(scope, place)
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
