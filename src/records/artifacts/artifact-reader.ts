import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { ToolError } from '../../core/errors.ts'
import { openRegular } from '../../lib/open-regular.ts'
import { diskError } from '../log/disk-error.ts'

/** The bytes from `start` up to, and without, `end`. */
export interface ByteSpan {
  /** Offset of the first byte. */
  readonly start: number
  /** Offset after the last byte. */
  readonly end: number
}

const PIECE_BYTES = 256 * 1024

/** An artifact on disk, read piece by piece; the file is open only while it is read. */
export class ArtifactReader {
  /** Size of the whole artifact. */
  readonly bytes: number
  readonly #path: string
  readonly #hash: string

  constructor(path: string, { hash, bytes }: { readonly hash: string; readonly bytes: number }) {
    this.#path = path
    this.#hash = hash
    this.bytes = bytes
  }

  /**
   * All of it, checked against its hash on the way: the last piece is held back until the hash is right, and CONFLICT is
   * thrown instead of it when it is not. So who got everything has the content that the reference names.
   */
  async *whole(): AsyncGenerator<Uint8Array, void> {
    const hash = createHash('sha256')
    let held: Uint8Array | undefined
    for await (const piece of this.part({ start: 0, end: this.bytes })) {
      if (held) yield held
      hash.update(piece)
      held = piece
    }
    if (hash.digest('hex') !== this.#hash) throw artifactChanged(this.#hash)
    if (held) yield held
  }

  /** A part as it is on disk now: what its hash would say is not known without reading all. */
  async *part({ start, end }: ByteSpan): AsyncGenerator<Uint8Array, void> {
    const file = await this.#open()
    try {
      for (let at = start; at < end; ) {
        const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, end - at))
        const { bytesRead } = await file.read(piece, 0, piece.length, at)
        if (bytesRead === 0) throw artifactChanged(this.#hash)
        at += bytesRead
        yield piece.subarray(0, bytesRead)
      }
    } finally {
      await file.close()
    }
  }

  async #open(): Promise<FileHandle> {
    try {
      return await openRegular(this.#path)
    } catch (error) {
      throw diskError('The artifact cannot be read', this.#path, error)
    }
  }
}

/** The content is not the one that its name promises. */
export function artifactChanged(hash: string): ToolError {
  return new ToolError('CONFLICT', `artifact:${hash} was changed after it was stored.`, {
    hint: 'Do not use it; make it again, and run audit verify.',
  })
}
