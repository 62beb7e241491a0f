import { createHash, type Hash } from 'node:crypto'
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { createInflate, inflate, inflateSync } from 'node:zlib'
import { errnoOf } from '@tool-hub/core/lib'
import { TimeSlice } from '../../system/index.ts'
import {
  applyDelta,
  MAX_PACKED_HEADER_BYTES,
  type PackedHeader,
  type PackIndex,
  readPackedHeader,
  sizeAfterDelta,
} from '../git/index.ts'

/** An object whose content is not the one that its name says. */
export class WrongObject extends Error {}
/** What is too large to be checked. */
export class UncheckedObject extends Error {}

/** A part of an open file. */
export interface FilePart {
  readonly descriptor: number
  readonly start: number
  readonly end: number
}

/** In one check of all objects: some seconds of work. */
const MAX_WORK_BYTES = 1024 ** 3
/** What an object costs in addition to its bytes. */
const OBJECT_BYTES = 4_096
/** What is read, inflated or hashed without a pause. */
const STEP_BYTES = 1024 ** 2
const PIECE_BYTES = 64 * 1024
const inflateLater = promisify(inflate)

/** Reads compressed objects of git for one check, without blocking and without more work than it may cost. */
export class ObjectReader {
  #bytesLeft: number
  readonly #slice = new TimeSlice()

  constructor(maxWorkBytes = MAX_WORK_BYTES) {
    this.#bytesLeft = maxWorkBytes
  }

  /** Throws if the check has cost too much already. */
  async spend(bytes = 0): Promise<void> {
    this.#bytesLeft -= OBJECT_BYTES + bytes
    if (this.#bytesLeft < 0) throw new UncheckedObject('There are too many objects.')
    if (this.#slice.isOver) await this.#slice.pause()
  }

  /** Returns what the part contains, of which the length is known. */
  async inflate(part: FilePart, length: number): Promise<Buffer> {
    await this.spend(length)
    const compressed = readPart(part)
    const options = { maxOutputLength: Math.max(1, length), chunkSize: Math.max(64, Math.min(length, STEP_BYTES)) }
    const isSmall = Math.max(length, compressed.length) <= STEP_BYTES
    const content = await (isSmall
      ? attempt(() => inflateSync(compressed, options))
      : inflateLater(compressed, options)
    ).catch(() => undefined)
    if (content?.length !== length) throw new WrongObject()
    return content
  }

  /** Adds what the part contains to a hash, piece by piece; returns its length. */
  async hashInflated(part: FilePart, hash: Hash): Promise<number> {
    const content = part.end - part.start > PIECE_BYTES ? undefined : inflateSmall(readPart(part))
    if (content) {
      await this.spend(content.length)
      hash.update(content)
      return content.length
    }
    let length = 0
    const source = Readable.from(piecesOf(part))
    const pieces = createInflate()
    source.on('error', (error) => pieces.destroy(error))
    source.pipe(pieces)
    try {
      for await (const piece of pieces) {
        await this.spend(piece.length)
        hash.update(piece)
        length += piece.length
      }
      return length
    } catch (error) {
      if (error instanceof UncheckedObject) throw error
      throw new WrongObject()
    } finally {
      source.destroy()
    }
  }

  /** Adds bytes to a hash. */
  async hashBytes(bytes: Buffer, hash: Hash): Promise<void> {
    for (let at = 0; at < bytes.length; at += STEP_BYTES) {
      hash.update(bytes.subarray(at, at + STEP_BYTES))
      if (bytes.length > STEP_BYTES) await this.spend()
    }
  }
}

/** Reads a part of a file; less if the file is shorter now. */
export function readPart({ descriptor, start, end }: FilePart): Buffer {
  const buffer = Buffer.allocUnsafe(Math.max(0, end - start))
  return buffer.subarray(0, readSync(descriptor, buffer, 0, buffer.length, start))
}

function* piecesOf({ descriptor, start, end }: FilePart): Generator<Buffer> {
  for (let at = start; at < end; at += PIECE_BYTES)
    yield readPart({ descriptor, start: at, end: Math.min(end, at + PIECE_BYTES) })
}

/** The hash function of a repository whose hashes have so many bytes. */
export function gitHash(hashBytes: number): Hash {
  return createHash(hashBytes === 32 ? 'sha256' : 'sha1')
}

/** Returns undefined if it is not small any more then. A stream costs ten times as much. */
function inflateSmall(compressed: Buffer): Buffer | undefined {
  try {
    return inflateSync(compressed, { maxOutputLength: STEP_BYTES, chunkSize: 4 * Math.max(256, compressed.length) })
  } catch (error) {
    if (errnoOf(error) === 'ERR_BUFFER_TOO_LARGE') return undefined
    throw new WrongObject()
  }
}

async function attempt<T>(work: () => T): Promise<T> {
  return work()
}

/** Opens a regular file that commands may write: never through a link, never waiting for a pipe or the holder of a lease. */
export async function withFile(path: string, work: (file: FilePart) => Promise<void>): Promise<void> {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const stats = fstatSync(descriptor)
    if (!stats.isFile()) throw new WrongObject()
    await work({ descriptor, start: 0, end: stats.size })
  } finally {
    closeSync(descriptor)
  }
}

/** What an object is, and what it contains. */
export interface GitObject {
  readonly type: string
  readonly bytes: Buffer
}

/** Its header, where its compressed bytes are, and where the object begins that it changes, if it is a delta. */
interface Packed {
  readonly header: PackedHeader
  readonly data: FilePart
  readonly base?: number
}

/** A larger object is hashed in pieces, unless it is a delta. */
const MAX_IN_MEMORY = 32 * 1024 ** 2
const MAX_CACHED_BYTES = 64 * 1024 ** 2
/** Git itself makes no longer ones. */
const MAX_CHAIN = 4_096

/** A pack, which is read through an index that may be wrong. */
export class PackContent {
  readonly #pack: FilePart
  readonly #index: PackIndex
  readonly #hashBytes: number
  readonly #reader: ObjectReader
  /** Contents by where they begin, the last used one at the end. */
  readonly #cache = new Map<number, GitObject>()
  #cachedBytes = 0

  constructor(pack: FilePart, index: PackIndex, hashBytes: number, reader: ObjectReader) {
    this.#pack = pack
    this.#index = index
    this.#hashBytes = hashBytes
    this.#reader = reader
  }

  /** Throws if an object does not have the hash that the index gives it. */
  async check(): Promise<void> {
    const { offsets } = this.#index
    for (const offset of offsets) {
      const hash = gitHash(this.#hashBytes)
      const packed = this.#packedAt(offset)
      const { type, size } = packed.header
      if (type !== 'delta' && size > MAX_IN_MEMORY) {
        hash.update(`${type} ${size}\0`)
        if ((await this.#reader.hashInflated(packed.data, hash)) !== size) throw new WrongObject()
      } else {
        const content = await this.contentAt(offset)
        hash.update(`${content.type} ${content.bytes.length}\0`)
        await this.#reader.hashBytes(content.bytes, hash)
      }
      if (!hash.digest().equals(this.#index.hashAt(offset)!)) throw new WrongObject()
    }
  }

  #packedAt(offset: number): Packed {
    const end = this.#index.endOf(offset) ?? this.#pack.end - this.#hashBytes
    if (!this.#index.hashAt(offset) || end <= offset || end > this.#pack.end) throw new WrongObject()
    const part = { ...this.#pack, start: offset }
    const header = readPackedHeader(
      readPart({ ...part, end: Math.min(end, offset + MAX_PACKED_HEADER_BYTES) }),
      this.#hashBytes,
    )
    if (!header) throw new WrongObject()
    const { distance } = header
    const base = distance === undefined ? header.base && this.#index.offsetOf(header.base) : offset - distance
    if (header.type === 'delta' && base === undefined) throw new WrongObject()
    return { header, data: { ...part, start: offset + header.dataAt, end }, base }
  }

  /** The object that begins there. */
  async contentAt(offset: number): Promise<GitObject> {
    const deltas: { readonly offset: number; readonly bytes: Buffer }[] = []
    let deltaBytes = 0
    let content: GitObject | undefined
    for (let at = offset; !content; ) {
      content = this.#cached(at)
      if (content) break
      const { header, data, base } = this.#packedAt(at)
      deltaBytes += header.size
      if (deltaBytes > MAX_IN_MEMORY) throw new UncheckedObject('An object is too large.')
      const bytes = await this.#reader.inflate(data, header.size)
      if (base === undefined) {
        content = { type: header.type, bytes }
        this.#keep(at, content)
        break
      }
      deltas.push({ offset: at, bytes })
      if (deltas.length > MAX_CHAIN) throw new WrongObject()
      at = base
    }
    for (const delta of deltas.reverse()) {
      const size = sizeAfterDelta(delta.bytes)
      if (!(size <= MAX_IN_MEMORY)) throw new UncheckedObject('An object is too large.')
      await this.#reader.spend(size)
      const bytes = applyDelta(content.bytes, delta.bytes)
      if (!bytes) throw new WrongObject()
      content = { type: content.type, bytes }
      this.#keep(delta.offset, content)
    }
    return content
  }

  #cached(offset: number): GitObject | undefined {
    const content = this.#cache.get(offset)
    if (!content) return undefined
    this.#cache.delete(offset)
    this.#cache.set(offset, content)
    return content
  }

  #keep(offset: number, content: GitObject): void {
    this.#cache.set(offset, content)
    this.#cachedBytes += content.bytes.length
    for (const [oldest, { bytes }] of this.#cache) {
      if (this.#cachedBytes <= MAX_CACHED_BYTES) break
      this.#cache.delete(oldest)
      this.#cachedBytes -= bytes.length
    }
  }
}
