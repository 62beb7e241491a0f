import { createHash } from 'node:crypto'
import { closeSync } from 'node:fs'
import { sha256 } from '../../../value/hash.ts'
import type { FilesCall, FilesDoor } from '../files-door.ts'
import { type OpenFile, openFile } from './open-file.ts'
import { readChunks, readSmall, SMALL_BYTES } from './read-content.ts'
import { MAX_SCAN_BYTES, refuseLarger } from './refuse-larger.ts'

/** The SHA-256 of what a file held when it was opened, read piece by piece. Who knows the hash has not seen the content. */
export async function hashFile(door: FilesDoor, call: FilesCall, path: string) {
  const file = openFile(door, call, path)
  try {
    refuseLarger(file, MAX_SCAN_BYTES, 'Hash a smaller file; one of this size would take too long.')
    return { path: file.target.path, ...(await hashOpen(file, call)) }
  } finally {
    closeSync(file.descriptor)
  }
}

async function hashOpen(file: OpenFile, call: FilesCall): Promise<{ sha256: string; bytes: number }> {
  if (file.size <= SMALL_BYTES) {
    const content = readSmall(file)
    return { sha256: sha256(content), bytes: content.length }
  }
  const hash = createHash('sha256')
  const bytes = await readChunks(file, call.signal(), (chunk) => hash.update(chunk))
  return { sha256: hash.digest('hex'), bytes }
}
