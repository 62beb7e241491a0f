import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { ToolError, throwIfAborted, type Written } from '@tool-hub/core'
import { LONE_SURROGATE } from '@tool-hub/core/lib'

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
