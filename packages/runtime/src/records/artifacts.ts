import { createHash } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Artifact, assertRunId, ToolError } from '@tool-hub/core'
import { artifactHash, errnoOf, sha256 } from '@tool-hub/core/lib'
import { openRegular, syncFolder } from '@tool-hub/sandbox/system'
import { ArtifactWriter, artifactDraft, isStored } from './artifact-writer.ts'
import { diskError } from './log/disk-error.ts'
import type { ContentSharing, SharedFiles } from './log/shipment.ts'

/** Reads an artifact of a run, which need not be open. */
export function readArtifactOf(root: string, run: string, ref: string): Promise<Uint8Array> {
  assertRunId(run)
  return new Artifacts(join(root, run, 'artifacts'), { isDurable: false }).read(ref)
}

/** Opens an artifact of a run, which need not be open, to be read piece by piece. */
export async function findArtifactOf(
  root: string,
  run: string,
  ref: string,
  content?: SharedFiles,
): Promise<ArtifactReader> {
  assertRunId(run)
  return new Artifacts(join(root, run, 'artifacts'), {
    isDurable: false,
    shared: content && { content, run },
  }).find(ref)
}

/** How artifacts are stored. */
interface ArtifactsOptions extends ContentSharing {
  readonly isDurable: boolean
}

/** Large pieces of results in a folder, named by their hash: equal content is stored once. */
export class Artifacts {
  readonly #folder: string
  readonly #options: ArtifactsOptions

  constructor(folder: string, options: ArtifactsOptions) {
    this.#folder = folder
    this.#options = options
  }

  /** Stores content: completely or not at all. */
  async put(
    content: string | Uint8Array,
    { name, mediaType }: { readonly name?: string; readonly mediaType?: string } = {},
  ): Promise<Artifact> {
    const isText = typeof content === 'string'
    const bytes = isText ? Buffer.from(content) : content
    const hash = sha256(bytes)
    await this.#store(hash, bytes)
    await this.#share(hash)
    return {
      ref: `artifact:${hash}`,
      name: name ?? `${hash.slice(0, 12)}.${isText ? 'txt' : 'bin'}`,
      bytes: bytes.byteLength,
      sha256: hash,
      mediaType: mediaType ?? (isText ? 'text/plain; charset=utf-8' : 'application/octet-stream'),
    }
  }

  /** Creates an artifact whose content comes piece by piece. */
  open(): ArtifactWriter {
    const { isDurable } = this.#options
    return new ArtifactWriter(this.#folder, { isDurable, onStored: (hash) => this.#share(hash) })
  }

  /** Returns the content of a reference, checked against its hash. */
  async read(ref: string): Promise<Uint8Array> {
    return (await this.find(ref)).read()
  }

  /** Opens the content of a reference, to be read piece by piece. */
  async find(ref: string): Promise<ArtifactReader> {
    const hash = requireHash(ref)
    const path = join(this.#folder, hash)
    try {
      const file = await openRegular(path)
      const { size } = await file.stat().finally(() => file.close())
      return new ArtifactReader({ hash, bytes: size, pieces: (span) => readFileSpan(path, hash, span) })
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw diskError('The artifact cannot be read', path, error)
    }
    const { shared } = this.#options
    const elsewhere = await shared?.content.find(shared.run, hash)
    if (elsewhere) return new ArtifactReader({ hash, ...elsewhere })
    throw new ToolError('NOT_FOUND', `This run has no artifact:${hash}.`, {
      hint: 'Artifacts belong to the run that made them.',
    })
  }

  /** Copies an artifact that another machine has stored to the folder of the run. Returns false if there is none. */
  async fetch(hash: string): Promise<boolean> {
    const { shared } = this.#options
    return (await shared?.content.fetch(shared.run, hash, join(this.#folder, hash))) ?? false
  }

  async #share(hash: string): Promise<void> {
    const { shared, isWaitedFor = false } = this.#options
    if (isWaitedFor) await shared?.content.put(shared.run, hash, join(this.#folder, hash))
  }

  async #store(hash: string, bytes: Uint8Array): Promise<void> {
    const path = join(this.#folder, hash)
    const draft = artifactDraft(this.#folder, hash)
    try {
      if (await isStored(path, bytes.byteLength)) return
      const file = await open(draft, 'wx', 0o600)
      try {
        await file.writeFile(bytes)
        if (this.#options.isDurable) await file.sync()
      } finally {
        await file.close()
      }
      await rename(draft, path)
      if (this.#options.isDurable) await syncFolder(this.#folder)
    } catch (error) {
      await rm(draft, { force: true })
      throw diskError('The artifact cannot be stored', path, error)
    }
  }
}

function requireHash(ref: string): string {
  const hash = artifactHash(ref)
  if (hash !== undefined) return hash
  throw new ToolError('NOT_FOUND', `${JSON.stringify(ref.slice(0, 100))} is not an artifact reference.`, {
    hint: 'Use the ref of an artifact as a result gives it: artifact:<sha256>.',
  })
}

/** The bytes from `start` up to, but not including, `end`. */
interface ByteSpan {
  /** Offset of the first byte. */
  readonly start: number
  /** Offset after the last byte. */
  readonly end: number
}

const PIECE_BYTES = 256 * 1024

/** Where the content of an artifact comes from. */
interface ArtifactSource {
  /** SHA-256 of its content. */
  readonly hash: string
  /** Size of its content. */
  readonly bytes: number
  /** Yields a range. */
  readonly pieces: (span: ByteSpan) => AsyncGenerator<Uint8Array>
}

/** An artifact, on this machine or another, read piece by piece; a file is open only while it is read. */
export class ArtifactReader {
  /** Size of the whole artifact. */
  readonly bytes: number
  readonly #source: ArtifactSource

  constructor(source: ArtifactSource) {
    this.#source = source
    this.bytes = source.bytes
  }

  /** Returns all of it, checked against its hash. */
  async read(): Promise<Uint8Array> {
    const pieces: Uint8Array[] = []
    for await (const piece of this.whole()) pieces.push(piece)
    return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
  }

  /**
   * Yields all of it, checked against its hash: the last piece is held back until the hash is right, and CONFLICT is
   * thrown instead if it is not. So a caller that got everything has the content that the reference names.
   */
  async *whole(): AsyncGenerator<Uint8Array, void> {
    const hash = createHash('sha256')
    let held: Uint8Array | undefined
    for await (const piece of this.part({ start: 0, end: this.bytes })) {
      if (held) yield held
      hash.update(piece)
      held = piece
    }
    if (hash.digest('hex') !== this.#source.hash) throw artifactChanged(this.#source.hash)
    if (held) yield held
  }

  /** Yields a range as it is stored now, without checking the hash, which would mean reading everything. */
  part(span: ByteSpan): AsyncGenerator<Uint8Array, void> {
    return this.#source.pieces(span)
  }
}

async function* readFileSpan(path: string, hash: string, { start, end }: ByteSpan): AsyncGenerator<Uint8Array, void> {
  const file = await openRegular(path).catch((error) => {
    throw diskError('The artifact cannot be read', path, error)
  })
  try {
    for (let at = start; at < end; ) {
      const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, end - at))
      const { bytesRead } = await file.read(piece, 0, piece.length, at)
      if (bytesRead === 0) throw artifactChanged(hash)
      at += bytesRead
      yield piece.subarray(0, bytesRead)
    }
  } finally {
    await file.close()
  }
}

/** The error for content that does not match its name. */
function artifactChanged(hash: string): ToolError {
  return new ToolError('CONFLICT', `artifact:${hash} was changed after it was stored.`, {
    hint: 'Do not use it; make it again, and run audit verify.',
  })
}

const CHUNK_BYTES = 256 * 1024
/** How many intact artifacts are remembered, so that they are not read again. */
const MAX_REMEMBERED = 100_000

/** Checks the artifacts that the events of a run name against their hashes, each once. */
export class ArtifactCheck {
  readonly #folder: string
  readonly #intact = new Set<string>()

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Returns what is wrong with an artifact, or `undefined` if it is as it was stored. */
  async problemOf(ref: string): Promise<string | undefined> {
    const hash = artifactHash(ref)
    if (hash === undefined) return 'is not an artifact'
    if (this.#intact.has(hash)) return undefined
    const found = await hashOf(join(this.#folder, hash))
    if (found !== hash) return found === undefined ? 'is missing' : 'was changed'
    if (this.#intact.size === MAX_REMEMBERED) this.#intact.clear()
    this.#intact.add(hash)
    return undefined
  }
}

/** Hashes a file in pieces. Returns `undefined` if there is none, and `unreadable` for a link in its place. */
async function hashOf(path: string): Promise<string | undefined> {
  const file = await openRegular(path).catch((error) => (errnoOf(error) === 'ENOENT' ? undefined : error))
  if (file === undefined || file instanceof Error) return file && 'unreadable'
  try {
    const hash = createHash('sha256')
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
    for (;;) {
      const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, null)
      if (bytesRead === 0) return hash.digest('hex')
      hash.update(chunk.subarray(0, bytesRead))
    }
  } finally {
    await file.close()
  }
}
