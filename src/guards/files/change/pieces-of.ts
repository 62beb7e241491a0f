import { read } from 'node:fs'
import { promisify } from 'node:util'
import { throwIfAborted } from '../../throw-if-aborted.ts'

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
