import { createHash } from 'node:crypto'
import { type BigIntStats, closeSync, constants, fstatSync, read } from 'node:fs'
import { posix } from 'node:path'
import { promisify } from 'node:util'
import { type FileState, ToolError, throwIfAborted } from '@tool-hub/core'
import { errnoOf, isWithin } from '@tool-hub/core/lib'
import { syncFolder } from '../../system/index.ts'
import { fileAccess } from '../access/choose-access.ts'
import type { FolderEntry } from '../access/path-access.ts'
import { isSameEntry } from '../access/steady-folder.ts'
import { quotePath } from '../file-error.ts'
import type { Access } from '../files-call.ts'
import type { FilesRoot } from '../files-root.ts'
import { readHashes } from '../read/read-file.ts'
import type { FileTarget } from '../roots.ts'
import {
  atDescriptor,
  destination,
  exactStatAt,
  type LinkTarget,
  lastLink,
  openAt,
  openFolder,
  refuseLink,
} from '../walk.ts'
import type { ChangeScope } from './change-scope.ts'
import { takeFolderOwnerAt } from './file-owner.ts'
import { type ByteName, toText } from './tree.ts'

/** A name in an open folder: whatever happens to the folders above, the name stays in this one. */
export interface ChangePlace {
  readonly target: FileTarget
  readonly parent: number
  readonly name: string
  /** The path of the name for system calls, for a step that `fileAccess` runs. */
  readonly path: string
}

interface MadeFolder {
  readonly above: number
  readonly name: string
}

/**
 * Opens the folder above a target for a change, creates missing folders on request, and closes all after the work. Folders
 * that were created for work that failed are removed again.
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

/** The name of a place, as an argument for a step. */
export function entryOf({ parent, path }: Pick<ChangePlace, 'parent' | 'path'>): FolderEntry {
  return { folder: parent, path }
}

/** Whether a path in an open folder still leads to this entry. */
export function isEntryAt(folder: number, path: string, expected: Pick<BigIntStats, 'dev' | 'ino'>): boolean {
  const now = fileAccess.statBig(folder, path)
  return now !== undefined && isSameEntry(now, expected)
}

/** Makes the names in a place's folder durable. */
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

/** Returns false if another program has just created it; opening it shows what it is. */
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

/** Refuses a path that can only mean a folder if a file is to be written. */
export function refuseFolderName({ names, saysFolder, path }: FileTarget): void {
  if (names.length > 0 && !saysFolder) return
  throw new ToolError('INPUT_SCHEMA_INVALID', `${quotePath(path)} is a folder, not a file.`)
}

/** Refuses to move or remove a root. */
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

/** The target of an entry below another one; it may belong to a root inside that root. */
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

// Without O_NONBLOCK a pipe with no writer would hang the process.
const READ = constants.O_RDONLY | constants.O_NONBLOCK

/** Permission bits that new content may take over; never setuid, setgid or sticky. */
const KEPT_MODE = 0o777

/** The regular file at a place, opened. */
export interface CurrentFile {
  readonly descriptor: number
  readonly stats: BigIntStats
}

/** Opens the file at a place; undefined if there is none. Refuses a link, a folder or a device. */
export function openCurrent(scope: ChangeScope, place: ChangePlace): CurrentFile | undefined {
  const descriptor = openUnfollowed(scope, place)
  if (descriptor === undefined) return undefined
  try {
    const stats = fstatSync(descriptor, { bigint: true })
    checkFile(stats, place)
    return { descriptor, stats }
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

/** Content and permissions of an open file, as the journal names them. */
export async function stateOf({ descriptor, stats }: CurrentFile, signal: AbortSignal): Promise<FileState> {
  const bytes = Number(stats.size)
  return { sha256: await hashDescriptor(descriptor, bytes, signal), bytes, mode: modeOf(stats) }
}

/** The permission bits that a file keeps. */
export function modeOf(stats: BigIntStats): number {
  return Number(stats.mode) & KEPT_MODE
}

/** Throws CONFLICT unless the place still leads to the file that was opened, unchanged. */
export function checkUnchanged(place: ChangePlace, stats: BigIntStats): void {
  const now = exactStatAt(place.parent, place.name)
  // Not the ctime: a hard link, which the journal creates to keep the content, changes it.
  if (now && isSameEntry(now, stats) && now.size === stats.size && now.mtimeNs === stats.mtimeNs) return
  throw changedSinceRead(place)
}

/** The error for content that is not the one the change was made for. */
export function changedSinceRead({ target }: ChangePlace): ToolError {
  return new ToolError('CONFLICT', `${quotePath(target.path)} changed since it was read.`, {
    hint: 'Read it again, then decide.',
  })
}

function openUnfollowed({ filesRoot }: ChangeScope, { target, parent, name }: ChangePlace): number | undefined {
  try {
    return openAt(parent, name, READ)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    const link = errnoOf(error) === 'ELOOP' ? lastLink(target, parent, name) : undefined
    if (link) return refuseLink(filesRoot.roots, link, target)
    throw error
  }
}

function checkFile(stats: BigIntStats, { target }: ChangePlace): void {
  if (stats.isFile()) return
  const shown = quotePath(target.path)
  if (stats.isDirectory()) throw new ToolError('INPUT_SCHEMA_INVALID', `${shown} is a folder, not a file.`)
  throw new ToolError('PATH_DENIED', `${shown} is a pipe, a socket or a device, not a regular file.`)
}

/**
 * SHA-256 of the first `size` bytes of an open file. Piece by piece on this thread: passing five megabytes to another one
 * copies them first, which takes longer than the hash.
 */
export async function hashDescriptor(descriptor: number, size: number, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of piecesOf(descriptor, size, signal)) hash.update(piece)
  return hash.digest('hex')
}

const readInto = promisify(read)
const PIECE = 524_288

/** The first `size` bytes of an open file in pieces, each valid until the next is requested; never more, even if it grows. */
export async function* piecesOf(descriptor: number, size: number, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const piece = Buffer.allocUnsafe(Math.min(PIECE, size))
  for (let offset = 0; offset < size; ) {
    throwIfAborted(signal)
    const { bytesRead } = await readInto(descriptor, piece, 0, Math.min(PIECE, size - offset), offset)
    if (bytesRead === 0) return
    yield piece.subarray(0, bytesRead)
    offset += bytesRead
  }
}

/** Larger content is replaced or removed without a backup: hashing it alone would take seconds. */
const MAX_KEPT_BYTES = 1_073_741_824

/** The state of a file before it is replaced or removed, if the decision or the journal needs its hash. */
export async function hashCurrent(
  { call, signal }: ChangeScope,
  current: CurrentFile,
  isNeeded: boolean,
): Promise<FileState | undefined> {
  const isKept = call.journal !== undefined && current.stats.size <= MAX_KEPT_BYTES
  if (!isNeeded && !isKept) return undefined
  // An edit has just read it: for 5 MB, reading and hashing it again would take a fifth of the whole edit.
  const known = readHashes.get(current.stats)
  return known ? { ...known, bytes: Number(current.stats.size), mode: modeOf(current.stats) } : stateOf(current, signal)
}

/** Backs up the content of a file before it is removed; that needs its hash. */
export async function keepCurrent(
  scope: ChangeScope,
  place: ChangePlace,
  current: CurrentFile,
  before: FileState | undefined,
): Promise<{ before: FileState; notUndoable: string | undefined }> {
  if (before) return { before, notUndoable: await scope.keepFile(place.path, before) }
  const bytes = Number(current.stats.size)
  return {
    before: { sha256: '', bytes, mode: modeOf(current.stats) },
    notUndoable: `its ${bytes} bytes are over the ${MAX_KEPT_BYTES} that are kept`,
  }
}
