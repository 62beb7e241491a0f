import { createHash } from 'node:crypto'
import { type BigIntStats, closeSync, constants, fstatSync, read } from 'node:fs'
import { promisify } from 'node:util'
import { type FileState, ToolError } from '../../../core/index.ts'
import { errnoOf } from '../../../lib/index.ts'
import { throwIfAborted } from '../../throw-if-aborted.ts'
import { quotePath } from '../file-error.ts'
import { exactStatAt, lastLink, openAt, refuseLink } from '../walk.ts'
import type { ChangeScope } from './change-scope.ts'
import type { ChangePlace } from './place.ts'

// Without O_NONBLOCK a pipe with no writer would hang the process.
const READ = constants.O_RDONLY | constants.O_NONBLOCK

/** Permission bits that a new content may take over; never setuid, setgid or sticky. */
const KEPT_MODE = 0o777

/** The regular file that stands at a place now, held open. */
export interface CurrentFile {
  readonly descriptor: number
  readonly stats: BigIntStats
}

/** Opens what stands at a place; undefined when nothing does. A link, a folder or a device is refused. */
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

/** Throws CONFLICT unless the place still leads to the very file that was opened, and it was not written to since. */
export function checkUnchanged(place: ChangePlace, stats: BigIntStats): void {
  const now = exactStatAt(place.parent, place.name)
  // Not the ctime: a second link, which the journal makes to keep the content, changes it.
  if (now && isSame(now, stats) && now.size === stats.size && now.mtimeNs === stats.mtimeNs) return
  throw changedSinceRead(place)
}

/** Whether both are the same file, whatever its content. */
function isSame(a: BigIntStats, b: BigIntStats): boolean {
  return a.ino === b.ino && a.dev === b.dev
}

/** What a change says that finds another content than the one it was made for. */
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
 * SHA-256 of the first `size` bytes of an open file. Piece by piece on this thread: handing five megabytes to another
 * one copies them first, which takes longer than the hash.
 */
export async function hashDescriptor(descriptor: number, size: number, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of piecesOf(descriptor, size, signal)) hash.update(piece)
  return hash.digest('hex')
}

const readInto = promisify(read)
const PIECE = 524_288

/** The first `size` bytes of an open file in pieces, each good until the next is asked for; no more however it grows. */
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

/** A larger content is replaced or removed without keeping it: hashing it alone would take seconds. */
const MAX_KEPT_BYTES = 1_073_741_824

/** The state of a file that is about to be replaced or removed, if the decision or the journal needs its hash. */
export async function hashCurrent(
  { call, signal }: ChangeScope,
  current: CurrentFile,
  isNeeded: boolean,
): Promise<FileState | undefined> {
  const isKept = call.journal !== undefined && current.stats.size <= MAX_KEPT_BYTES
  return isNeeded || isKept ? stateOf(current, signal) : undefined
}

/** Keeps the content of a file that is about to go; without its hash it cannot be kept. */
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
