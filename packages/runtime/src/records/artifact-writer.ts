import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { type FileHandle, lstat, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Artifact, ToolError } from '@tool-hub/core'
import { errnoOf } from '@tool-hub/core/lib'
import { openRegular, syncFolder } from '@tool-hub/sandbox/system'
import { diskError } from './log/disk-error.ts'

/** How an artifact is stored. */
interface ArtifactWriterOptions {
  readonly isDurable: boolean
  /** Called with the hash of the stored artifact; it is complete when this resolves. Default: immediately. */
  readonly onStored?: (hash: string) => Promise<void>
  /** For tests of a failing disk. */
  readonly openFile?: typeof open
}

type Stored = Omit<Artifact, 'name' | 'mediaType'>

/** With more than this waiting, `write` returns a promise. */
const MAX_WAITING_BYTES = 1024 * 1024
/** Maximum number of pieces in one write. */
const MAX_PIECES = 1_024

/**
 * An artifact whose content comes piece by piece and is never in memory as a whole: a draft that becomes the file named
 * by its hash. Finish or discard it. If the disk refuses, the next `write` and `finish` reject.
 */
export class ArtifactWriter {
  readonly #folder: string
  readonly #isDurable: boolean
  readonly #onStored: ArtifactWriterOptions['onStored']
  readonly #openFile: typeof open
  readonly #hash = createHash('sha256')
  #path: string
  #file: FileHandle | undefined
  #waiting: Uint8Array[] = []
  #acceptedBytes = 0
  #writtenBytes = 0
  #problem: ToolError | undefined
  /** Neither of them rejects. */
  #draining: Promise<void> | undefined
  #batch: Promise<void> | undefined
  #ended: Promise<Stored | undefined> | undefined

  constructor(folder: string, { isDurable, onStored, openFile = open }: ArtifactWriterOptions) {
    this.#folder = folder
    this.#isDurable = isDurable
    this.#onStored = onStored
    this.#openFile = openFile
    this.#path = artifactDraft(folder, 'stream')
  }

  /** Takes bytes, which must not change any more. Returns a promise if the caller should wait before it writes more. */
  write(bytes: Uint8Array): Promise<void> | undefined {
    if (this.#ended || bytes.byteLength === 0) return undefined
    if (!this.#problem) {
      this.#waiting.push(bytes)
      this.#acceptedBytes += bytes.byteLength
      this.#draining ??= this.#drain()
      if (this.#waitingBytes <= MAX_WAITING_BYTES) return undefined
    }
    const room = this.#until(() => this.#waitingBytes <= MAX_WAITING_BYTES / 2)
    // A caller that does not wait gets the error from `finish`.
    room.catch(() => {})
    return room
  }

  /** Reads a range of what was written so far, also after `finish`; shorter at the end. */
  async read(offset: number, length: number): Promise<Uint8Array> {
    const end = Math.min(this.#acceptedBytes, offset + length)
    await this.#until(() => this.#writtenBytes >= end)
    const size = Math.min(end, this.#writtenBytes) - offset
    if (size <= 0) return new Uint8Array()
    try {
      const { buffer, bytesRead } = await this.#readFile(Buffer.allocUnsafe(size), offset)
      return buffer.subarray(0, bytesRead)
    } catch (error) {
      throw diskError('The artifact cannot be read', this.#path, error)
    }
  }

  /** Completes the artifact; later writes are ignored. */
  async finish({ name, mediaType }: { readonly name: string; readonly mediaType: string }): Promise<Artifact> {
    this.#ended ??= this.#finish()
    const stored = await this.#ended
    if (!stored) throw new Error('The artifact was discarded before.')
    return { ...stored, name, mediaType }
  }

  /** Discards what was written; a completed artifact stays. */
  async discard(): Promise<void> {
    this.#ended ??= this.#removeDraft()
    // A failed finish has rejected already, and a draft that cannot be removed is swept at the next start.
    await this.#ended.catch(() => {})
  }

  get #waitingBytes(): number {
    return this.#acceptedBytes - this.#writtenBytes
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      this.#batch = this.#writeBatch(this.#waiting.splice(0, MAX_PIECES))
      await this.#batch
    }
    this.#draining = undefined
  }

  async #writeBatch(pieces: readonly Uint8Array[]): Promise<void> {
    try {
      const writing = writePieces(await this.#opened(), pieces, this.#writtenBytes)
      // Meanwhile, because another thread does the writing.
      for (const piece of pieces) this.#hash.update(piece)
      this.#writtenBytes += await writing
    } catch (error) {
      this.#problem = diskError('The artifact cannot be stored', this.#path, error)
      this.#waiting = []
    }
  }

  /** Waits until everything is written. Throws if the disk refused. */
  async #until(isEnough: () => boolean): Promise<void> {
    while (this.#draining && !isEnough()) await this.#batch
    if (this.#problem) throw this.#problem
  }

  async #opened(): Promise<FileHandle> {
    this.#file ??= await this.#openFile(this.#path, 'wx+', 0o600)
    return this.#file
  }

  async #readFile(buffer: Buffer, offset: number): Promise<{ readonly buffer: Buffer; readonly bytesRead: number }> {
    if (!this.#ended && this.#file) return this.#file.read(buffer, 0, buffer.length, offset)
    await this.#ended
    const file = await openRegular(this.#path)
    return file.read(buffer, 0, buffer.length, offset).finally(() => file.close())
  }

  async #finish(): Promise<Stored> {
    try {
      await this.#until(() => false)
      // If nothing was written, it becomes an empty artifact.
      const file = await this.#opened()
      const sha256 = this.#hash.digest('hex')
      await this.#place(file, join(this.#folder, sha256))
      await this.#onStored?.(sha256)
      return { ref: `artifact:${sha256}`, bytes: this.#writtenBytes, sha256 }
    } catch (error) {
      await this.#removeDraft()
      throw diskError('The artifact cannot be stored', this.#path, error)
    }
  }

  async #place(file: FileHandle, path: string): Promise<void> {
    const isThere = await isStored(path, this.#writtenBytes)
    if (this.#isDurable && !isThere) await file.sync()
    this.#file = undefined
    await file.close()
    if (isThere) await rm(this.#path)
    else await rename(this.#path, path)
    this.#path = path
    if (this.#isDurable) await syncFolder(this.#folder)
  }

  async #removeDraft(): Promise<undefined> {
    this.#waiting = []
    await this.#draining
    const file = this.#file
    this.#file = undefined
    await file?.close()
    await rm(this.#path, { force: true })
    this.#acceptedBytes = 0
    this.#writtenBytes = 0
  }
}

/** Writes pieces one after the other, with as few system calls as possible. Returns how many bytes they have. */
export async function writePieces(file: FileHandle, pieces: readonly Uint8Array[], position: number): Promise<number> {
  let rest = pieces
  let written = 0
  while (rest.length > 0) {
    const { bytesWritten } = await file.writev(rest, position + written)
    if (bytesWritten === 0) throw new Error('The disk took nothing.')
    written += bytesWritten
    rest = behind(rest, bytesWritten)
  }
  return written
}

/** Returns the rest of the pieces after so many bytes of them. */
function behind(pieces: readonly Uint8Array[], bytes: number): readonly Uint8Array[] {
  let taken = bytes
  let index = 0
  while (index < pieces.length && taken >= pieces[index]!.byteLength) taken -= pieces[index++]!.byteLength
  const [first, ...others] = pieces.slice(index)
  return first ? [first.subarray(taken), ...others] : []
}

/** No reference has such a name, so a draft is never taken for an artifact. */
const DRAFT = /^(?:[0-9a-f]{64}|stream)\.[0-9a-f]{12}$/

/** Returns where an artifact is written until it is complete; `name` is its hash, or `stream` while that is unknown. */
export function artifactDraft(folder: string, name: string): string {
  return join(folder, `${name}.${randomBytes(6).toString('hex')}`)
}

/** Removes the drafts that a crash left behind; only while the lock of the run is held. */
export function sweepArtifactDrafts(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (DRAFT.test(name)) rmSync(join(folder, name), { force: true })
  }
}

/** Whether this content is stored already. */
export async function isStored(path: string, bytes: number): Promise<boolean> {
  try {
    const stats = await lstat(path)
    return stats.isFile() && stats.size === bytes
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false
    throw error
  }
}
