import { createHash } from 'node:crypto'
import { piecesOf } from './pieces-of.ts'

/**
 * SHA-256 of the first `size` bytes of an open file. Piece by piece on this thread: handing five megabytes to another
 * one copies them first, which takes longer than the hash.
 */
export async function hashFile(descriptor: number, size: number, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of piecesOf(descriptor, size, signal)) hash.update(piece)
  return hash.digest('hex')
}
