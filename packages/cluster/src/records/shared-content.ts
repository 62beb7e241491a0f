import { createHash, randomBytes } from 'node:crypto'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { type Clock, ToolError } from '@tool-hub/core'
import type { SharedFile, SharedFiles } from '@tool-hub/runtime/records/log'
import { openRegular } from '@tool-hub/sandbox/system'
import type { BlobStore, StoredBlob } from '../store/types.ts'
import type { ObjectBucket } from './bucket.ts'

/** The size of a row in the store, which is in memory as a whole. */
const PART_BYTES = 1024 * 1024

/** What shared content needs. */
export interface SharedContentOptions {
  readonly blobs: BlobStore
  readonly bucket?: ObjectBucket
  readonly clock: Clock
  /** Called if the bucket does not take content; it is then in the store. */
  readonly onProblem?: (error: unknown) => void
}

/** Artifacts and what undo needs, by their hash: stored once for all machines, in the bucket or in parts in the store. */
export class SharedContent implements SharedFiles {
  readonly #options: SharedContentOptions

  constructor(options: SharedContentOptions) {
    this.#options = options
  }

  /** Stores a file of this machine unless it is there, and notes that the run uses it. */
  async put(run: string, hash: string, path: string): Promise<void> {
    const { blobs, bucket, clock } = this.#options
    if (await blobs.use(hash, { run, at: clock.now() })) return
    const file = await openRegular(path)
    try {
      const { size } = await file.stat()
      if (bucket && size > PART_BYTES && (await this.#putObject(bucket, { run, hash, path, bytes: size }))) return
      await this.#putParts(file, { run, hash })
    } finally {
      await file.close()
    }
  }

  /** Finds content that a run uses. */
  async find(run: string, hash: string): Promise<SharedFile | undefined> {
    const blob = await this.#options.blobs.find(hash, run)
    return blob && { bytes: blob.bytes, pieces: (span) => this.#pieces(blob, span) }
  }

  /** Copies content that a run uses to a file on this machine, complete and checked. Returns false if there is none. */
  async fetch(run: string, hash: string, path: string): Promise<boolean> {
    const found = await this.find(run, hash)
    if (!found) return false
    const draft = `${path}.${randomBytes(6).toString('hex')}`
    try {
      const file = await open(draft, 'wx', 0o600)
      try {
        const digest = createHash('sha256')
        for await (const piece of found.pieces({ start: 0, end: found.bytes })) {
          digest.update(piece)
          await file.appendFile(piece)
        }
        if (digest.digest('hex') !== hash) throw changed(hash)
        await file.datasync()
      } finally {
        await file.close()
      }
      await rename(draft, path)
      return true
    } finally {
      await rm(draft, { force: true })
    }
  }

  /** Returns false if the bucket does not take it. */
  async #putObject(
    bucket: ObjectBucket,
    {
      run,
      hash,
      path,
      bytes,
    }: { readonly run: string; readonly hash: string; readonly path: string; readonly bytes: number },
  ): Promise<boolean> {
    const { blobs, clock, onProblem } = this.#options
    const upload = newUpload()
    // A name of its own for each upload: removing one never removes another.
    const object = `content/${upload}-${hash}`
    try {
      await bucket.put(object, { path, bytes }, hash)
    } catch (error) {
      onProblem?.(error)
      return false
    }
    await blobs.add({ hash, bytes, upload, parts: 0, object, run, at: clock.now() })
    const stored = await blobs.find(hash, run)
    // Another machine was faster, so this object has no user.
    if (stored && stored.upload !== upload) await bucket.remove(object).catch((error) => onProblem?.(error))
    return true
  }

  async #putParts(file: FileHandle, { run, hash }: { readonly run: string; readonly hash: string }): Promise<void> {
    const { blobs, clock } = this.#options
    const upload = newUpload()
    const digest = createHash('sha256')
    let bytes = 0
    let parts = 0
    for (;;) {
      const part = await readPart(file, bytes)
      if (part.byteLength === 0) break
      digest.update(part)
      await blobs.addPart(upload, { number: parts, content: part, at: clock.now() })
      bytes += part.byteLength
      parts++
    }
    if (digest.digest('hex') !== hash) throw changed(hash)
    await blobs.add({ hash, bytes, upload, parts, run, at: clock.now() })
  }

  async *#pieces(
    { hash, upload, parts, object }: StoredBlob,
    { start, end }: { readonly start: number; readonly end: number },
  ): AsyncGenerator<Uint8Array> {
    const { blobs, bucket } = this.#options
    if (object !== undefined) {
      if (!bucket) throw noBucket(hash)
      yield* bucket.read(object, { start, end })
      return
    }
    for (let number = Math.floor(start / PART_BYTES); number < parts && number * PART_BYTES < end; number++) {
      const part = await blobs.part(upload, number)
      if (!part) throw changed(hash)
      const first = number * PART_BYTES
      yield part.subarray(Math.max(0, start - first), Math.min(part.byteLength, end - first))
    }
  }
}

function newUpload(): string {
  return randomBytes(12).toString('hex')
}

/** A whole part, unless the file ends. */
async function readPart(file: FileHandle, position: number): Promise<Uint8Array> {
  const part = Buffer.allocUnsafe(PART_BYTES)
  let size = 0
  while (size < PART_BYTES) {
    const { bytesRead } = await file.read(part, size, PART_BYTES - size, position + size)
    if (bytesRead === 0) break
    size += bytesRead
  }
  return part.subarray(0, size)
}

function changed(hash: string): ToolError {
  return new ToolError('CONFLICT', `The content ${hash.slice(0, 12)}… is not what was stored.`, {
    hint: 'Do not use it; make it again, and run tool-hub audit verify --shared.',
  })
}

function noBucket(hash: string): ToolError {
  return new ToolError(
    'RECORDS_UNAVAILABLE',
    `The content ${hash.slice(0, 12)}… is in a bucket that this hub does not have.`,
    {
      fix: { key: 'records.bucket', hint: 'Set records.bucket as on the machine that stored it.' },
    },
  )
}
