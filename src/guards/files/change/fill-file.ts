import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import type { Written } from '../../../contracts/handles.ts'
import { ToolError } from '../../../errors.ts'
import { LONE_SURROGATE } from '../../../value/lone-surrogate.ts'
import { throwIfAborted } from '../../throw-if-aborted.ts'

/** What is written: bytes at once, or as they come. */
export type Content = Uint8Array | AsyncIterable<Uint8Array>

/** So much is written and hashed before the signal is looked at again. */
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
export function checkSize(content: Content, limit: number): void {
  if (!(content instanceof Uint8Array) || content.length <= limit) return
  throw tooLarge(`The content has ${content.length} bytes`, limit)
}

/** Writes a content into an open file and hashes it on the way; FILE_TOO_LARGE over the limit. */
export async function fillFile(
  file: FileHandle,
  content: Content,
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
