import { createHash } from 'node:crypto'
import { type BigIntStats, closeSync, constants, fchownSync, fstatSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { ToolError, throwIfAborted, type Written } from '@tool-hub/core'
import { errnoOf, LONE_SURROGATE } from '@tool-hub/core/lib'
import { fileAccess } from '../access/choose-access.ts'
import { namesAt, openAt, openFolder } from '../walk.ts'
import { CANNOT_LINK, type FileDraft } from './draft.ts'
import { type ChangePlace, type CurrentFile, changedSinceRead, entryOf, isEntryAt, modeOf, piecesOf } from './place.ts'

/** What is written: bytes in one piece, or as a stream. */
export type FileContent = Uint8Array | AsyncIterable<Uint8Array>

/** How many bytes are written and hashed between two checks of the signal. */
const PIECE = 4_194_304

/** Encodes text as UTF-8; refuses lone surrogates. */
export function encodeText(text: string): Uint8Array {
  const content = Buffer.from(text)
  // A lone surrogate is encoded as U+FFFD: only texts with that need a search.
  if (content.length === text.length || !content.includes('\ufffd') || !LONE_SURROGATE.test(text)) return content
  throw new ToolError(
    'INPUT_SCHEMA_INVALID',
    'The text has half a character (a lone surrogate), which UTF-8 cannot hold.',
  )
}

/** Refuses, before any work, what is known to be over the limit. */
export function checkSize(content: FileContent, limit: number): void {
  if (!(content instanceof Uint8Array) || content.length <= limit) return
  throw tooLarge(`The content has ${content.length} bytes`, limit)
}

/** Writes content into an open file and hashes it; throws FILE_TOO_LARGE over the limit. */
export async function fillFile(
  file: FileHandle,
  content: FileContent,
  limit: number,
  signal: AbortSignal,
): Promise<Written> {
  const hash = createHash('sha256')
  let bytes = 0
  const pieces = content instanceof Uint8Array ? cut(content) : untilAborted(content, signal)
  for await (const piece of pieces) {
    if (!(piece instanceof Uint8Array))
      throw new ToolError('INPUT_SCHEMA_INVALID', 'A content comes in bytes, not in text.')
    bytes += piece.length
    if (bytes > limit) throw tooLarge(`The content has more than ${limit} bytes`, limit)
    throwIfAborted(signal)
    const writing = writeAll(file, piece)
    // While another thread writes the piece, this one hashes it.
    hash.update(piece)
    await writing
  }
  throwIfAborted(signal)
  return { bytes, sha256: hash.digest('hex') }
}

function* cut(content: Uint8Array): Generator<Uint8Array> {
  for (let offset = 0; offset < content.length; offset += PIECE) yield content.subarray(offset, offset + PIECE)
}

async function writeAll(file: FileHandle, piece: Uint8Array): Promise<void> {
  for (let offset = 0; offset < piece.length; ) {
    const { bytesWritten } = await file.write(piece, offset)
    offset += bytesWritten
  }
}

/** The pieces of a stream; a stream that hangs ends with the call. */
async function* untilAborted<T>(stream: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const iterator = stream[Symbol.asyncIterator]()
  let stop = () => {}
  const stopped = new Promise<undefined>((resolve) => {
    stop = () => resolve(undefined)
  })
  signal.addEventListener('abort', stop)
  let isDone = false
  try {
    for (;;) {
      const step = signal.aborted ? undefined : await Promise.race([iterator.next(), stopped])
      throwIfAborted(signal)
      isDone = step?.done === true
      if (!step || step.done) return
      yield step.value
    }
  } finally {
    signal.removeEventListener('abort', stop)
    // Not awaited: a source that hangs may hang in its own cleanup too.
    if (!isDone) iterator.return?.().catch(() => {})
  }
}

function tooLarge(what: string, limit: number): ToolError {
  return new ToolError('FILE_TOO_LARGE', `${what}, the limit is ${limit}.`, {
    hint: 'Write less, or have the owner raise the limit of the rule.',
    details: { limit },
  })
}

const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL

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

/** A hub that runs as root keeps the owner of a file, as writing into it would; other users cannot and need not. */
export function keepOwner(descriptor: number, { uid, gid }: BigIntStats): void {
  const ours = fstatSync(descriptor, { bigint: true })
  if (ours.uid === uid && ours.gid === gid) return
  try {
    fchownSync(descriptor, Number(uid), Number(gid))
  } catch (error) {
    if (errnoOf(error) !== 'EPERM') throw error
  }
}

/**
 * A hub that runs as root gives a new file to the owner of its folder: commands run as that user and could not change it
 * otherwise. `descriptor` is a file or an empty folder that was just created, so that no other file changes its owner.
 */
export function takeFolderOwner(descriptor: number, folder: number): void {
  if (process.geteuid?.() !== 0 || fstatSync(descriptor).uid !== 0) return
  keepOwner(descriptor, fstatSync(folder, { bigint: true }))
}

/**
 * The same for a folder that was just created in another one. Anyone who may write there could have replaced it: only an
 * empty folder of root changes its owner.
 */
export function takeFolderOwnerAt(parent: number, name: string): void {
  if (process.geteuid?.() !== 0) return
  const made = openMade(parent, name)
  if (made === undefined) return
  try {
    if (namesAt(made).length === 0) takeOpenOwner(made, parent)
  } finally {
    closeSync(made)
  }
}

/** An O_PATH descriptor cannot change the owner. */
function takeOpenOwner(made: number, parent: number): void {
  const descriptor = openAt(made, '.', constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    takeFolderOwner(descriptor, parent)
  } finally {
    closeSync(descriptor)
  }
}

/** Undefined if it was removed or replaced with a link or a file: then its owner does not change. */
function openMade(parent: number, name: string): number | undefined {
  try {
    const made = openFolder(parent, name)
    return typeof made === 'number' ? made : undefined
  } catch (error) {
    if (errnoOf(error) === 'ENOTDIR') return undefined
    throw error
  }
}
