import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { ToolError, type Written } from '../../../core/index.ts'
import { errnoOf, LONE_SURROGATE } from '../../../lib/index.ts'
import { throwIfAborted } from '../../throw-if-aborted.ts'
import { fileAccess } from '../access/choose-access.ts'
import { type CurrentFile, changedSinceRead, modeOf, piecesOf } from './current-file.ts'
import { CANNOT_LINK, type FileDraft } from './draft.ts'
import { keepOwner } from './keep-owner.ts'
import { type ChangePlace, entryOf, isEntryAt } from './place.ts'

/** What is written: bytes in one piece, or as they come. */
export type FileContent = Uint8Array | AsyncIterable<Uint8Array>

/** Bytes that are written and hashed before the signal is checked again. */
const PIECE = 4_194_304

/** Text as UTF-8; refuses what UTF-8 cannot hold. */
export function encodeText(text: string): Uint8Array {
  const content = Buffer.from(text)
  // Half a character is written as U+FFFD: only where that can stand is there something to look for.
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

/** Writes a content into an open file and hashes it on the way; FILE_TOO_LARGE over the limit. */
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

/** The pieces of a stream; one that hangs does not outlive the call. */
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
    // Not awaited: a source that hangs would hang its own ending, too.
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

/** Gives the file at a place a second name; where the system has none for it, that name gets a copy. */
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
