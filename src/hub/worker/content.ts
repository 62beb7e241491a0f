import type { BlobStore } from '../../core/index.ts'
import { sha256 } from '../../lib/index.ts'

type Parts = Pick<BlobStore, 'addPart' | 'part'>

const PART_BYTES = 1_000_000

/** Stores content in parts, for the process of the run to read. They are swept with uploads that were never completed. */
export async function putParts(blobs: Parts, upload: string, content: Uint8Array, at: number): Promise<number> {
  const parts = Math.ceil(content.length / PART_BYTES)
  for (let number = 0; number < parts; number++) {
    const part = content.subarray(number * PART_BYTES, (number + 1) * PART_BYTES)
    await blobs.addPart(upload, { number, content: part, at })
  }
  return parts
}

/** Reads content in parts. Returns `undefined` if a part is missing or the content is not the one with this hash. */
export async function readParts(
  blobs: Parts,
  { upload, parts, hash }: { readonly upload: string; readonly parts: number; readonly hash: string },
): Promise<Uint8Array | undefined> {
  const read: Uint8Array[] = []
  for (let number = 0; number < parts; number++) {
    const part = await blobs.part(upload, number)
    if (!part) return undefined
    read.push(part)
  }
  const content = Buffer.concat(read)
  return sha256(content) === hash ? content : undefined
}
