import { read, readSync } from 'node:fs'
import { throwIfAborted } from '../../throw-if-aborted.ts'
import type { OpenFile } from './open-file.ts'

/**
 * Up to here a file is read by one synchronous call, the measured exception to the rule that data is read asynchronously:
 * from the page cache it takes 3 µs for 10 KB and 5 µs for 64 KB, over the thread pool 17 and 22 µs.
 */
export const SMALL_BYTES = 65_536

/** So much is read at a time; between two pieces others get their turn and a stopped call ends. */
export const CHUNK_BYTES = 524_288

// Shared by all small reads: whoever gets it is done with it before anything else can run.
const scratch = Buffer.allocUnsafeSlow(SMALL_BYTES)

/** The content of a small file, at once. It is good until the next `await`, when the next read takes its place. */
export function readSmall({ descriptor, size }: OpenFile): Buffer {
  return scratch.subarray(0, readNow(descriptor, scratch, size, 0))
}

/** Fills the first `length` bytes of `into` from a place in the file on, at once; tells how many there were. */
export function readNow(descriptor: number, into: Buffer, length: number, position: number): number {
  let filled = 0
  while (filled < length) {
    const count = readSync(descriptor, into, filled, length - filled, position + filled)
    if (count === 0) break
    filled += count
  }
  return filled
}

/** The bytes of a part of a file, as far as it is there; `use` gets each piece while the next one is being read. */
export async function readPart(
  descriptor: number,
  position: number,
  length: number,
  signal: AbortSignal,
  use?: (piece: Buffer) => void,
): Promise<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(length)
  const pieceAt = (offset: number) => bytes.subarray(offset, offset + CHUNK_BYTES)
  let filled = 0
  let reading = fill(descriptor, pieceAt(0), position)
  try {
    for (;;) {
      const piece = pieceAt(filled)
      const count = await reading
      throwIfAborted(signal)
      filled += count
      const isLast = count < piece.length || filled === length
      if (!isLast) reading = fill(descriptor, pieceAt(filled), position + filled)
      use?.(piece.subarray(0, count))
      if (isLast) return bytes.subarray(0, filled)
    }
  } finally {
    // The caller closes the descriptor next, so no read may be under way.
    await reading.catch(() => 0)
  }
}

/**
 * Gives a whole file to `use`, one piece after another; each piece is good until `use` returns. While one is used the
 * next is being read. Tells how many bytes there were.
 */
export async function readChunks(file: OpenFile, signal: AbortSignal, use: (chunk: Buffer, position: number) => void) {
  const { descriptor, size } = file
  const next = (into: Buffer, position: number) =>
    fill(descriptor, into.subarray(0, Math.min(CHUNK_BYTES, size - position)), position)

  let buffer = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, size))
  let spare = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, Math.max(0, size - CHUNK_BYTES)))
  let position = 0
  let reading = next(buffer, 0)
  try {
    while (position < size) {
      const count = await reading
      throwIfAborted(signal)
      if (count === 0) break
      const chunk = buffer.subarray(0, count)
      ;[buffer, spare] = [spare, buffer]
      reading = next(buffer, position + count)
      use(chunk, position)
      position += count
    }
  } finally {
    // The caller closes the descriptor next, so no read may be under way; why one failed was said above or does not matter.
    await reading.catch(() => 0)
  }
  return position
}

/** Fills `into` as far as the file goes. */
async function fill(descriptor: number, into: Buffer, position: number): Promise<number> {
  let filled = 0
  while (filled < into.length) {
    const count = await readOnce(descriptor, into, filled, position + filled)
    if (count === 0) break
    filled += count
  }
  return filled
}

/** The callback form: `fs/promises` would need a FileHandle, and the walk opens plain descriptors. */
function readOnce(descriptor: number, into: Buffer, offset: number, position: number): Promise<number> {
  return new Promise((resolve, reject) => {
    read(descriptor, into, offset, into.length - offset, position, (error, count) =>
      error ? reject(error) : resolve(count),
    )
  })
}
