import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ToolError } from '../../core/errors.ts'
import { assertRunId } from '../../core/names.ts'
import type { Artifact } from '../../core/result.ts'
import { artifactHash } from '../../core/result.ts'
import { errnoOf } from '../../lib/errno.ts'
import { sha256 } from '../../lib/hash.ts'
import { openRegular } from '../../lib/open-regular.ts'
import { syncFolder } from '../../lib/sync-folder.ts'
import { diskError } from '../log/disk-error.ts'
import { artifactDraft, isStored } from './artifact-files.ts'
import { ArtifactReader, artifactChanged } from './artifact-reader.ts'
import { ArtifactWriter } from './artifact-writer.ts'

/** An artifact of a run that need not be open. */
export function readArtifactOf(root: string, run: string, ref: string): Promise<Uint8Array> {
  assertRunId(run)
  return new Artifacts(join(root, run, 'artifacts'), { isDurable: false }).read(ref)
}

/** The same, to be read piece by piece. */
export async function findArtifactOf(root: string, run: string, ref: string): Promise<ArtifactReader> {
  assertRunId(run)
  return new Artifacts(join(root, run, 'artifacts'), { isDurable: false }).find(ref)
}

/** Large pieces of results in a folder, named by their hash: equal content is stored once. */
export class Artifacts {
  readonly #folder: string
  readonly #isDurable: boolean

  constructor(folder: string, options: { readonly isDurable: boolean }) {
    this.#folder = folder
    this.#isDurable = options.isDurable
  }

  /** Stores content; it is there whole or not at all. */
  async put(
    content: string | Uint8Array,
    { name, mediaType }: { readonly name?: string; readonly mediaType?: string } = {},
  ): Promise<Artifact> {
    const isText = typeof content === 'string'
    const bytes = isText ? Buffer.from(content) : content
    const hash = sha256(bytes)
    await this.#store(hash, bytes)
    return {
      ref: `artifact:${hash}`,
      name: name ?? `${hash.slice(0, 12)}.${isText ? 'txt' : 'bin'}`,
      bytes: bytes.byteLength,
      sha256: hash,
      mediaType: mediaType ?? (isText ? 'text/plain; charset=utf-8' : 'application/octet-stream'),
    }
  }

  /** An artifact whose content comes piece by piece. */
  open(): ArtifactWriter {
    return new ArtifactWriter(this.#folder, { isDurable: this.#isDurable })
  }

  /** The content of a reference, checked against its hash. */
  async read(ref: string): Promise<Uint8Array> {
    const hash = requireHash(ref)
    const bytes = await this.#use(hash, (file) => file.readFile())
    if (sha256(bytes) === hash) return bytes
    throw artifactChanged(hash)
  }

  /** The content of a reference, to be read piece by piece. */
  async find(ref: string): Promise<ArtifactReader> {
    const hash = requireHash(ref)
    const { size } = await this.#use(hash, (file) => file.stat())
    return new ArtifactReader(join(this.#folder, hash), { hash, bytes: size })
  }

  async #use<T>(hash: string, use: (file: FileHandle) => Promise<T>): Promise<T> {
    const path = join(this.#folder, hash)
    try {
      const file = await openRegular(path)
      return await use(file).finally(() => file.close())
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw diskError('The artifact cannot be read', path, error)
      throw new ToolError('NOT_FOUND', `This run has no artifact:${hash}.`, {
        hint: 'Artifacts belong to the run that made them.',
      })
    }
  }

  async #store(hash: string, bytes: Uint8Array): Promise<void> {
    const path = join(this.#folder, hash)
    const draft = artifactDraft(this.#folder, hash)
    try {
      if (await isStored(path, bytes.byteLength)) return
      const file = await open(draft, 'wx', 0o600)
      try {
        await file.writeFile(bytes)
        if (this.#isDurable) await file.sync()
      } finally {
        await file.close()
      }
      await rename(draft, path)
      if (this.#isDurable) await syncFolder(this.#folder)
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
