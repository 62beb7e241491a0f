import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { artifactHash } from '../../core/index.ts'
import { errnoOf } from '../../lib/index.ts'
import { openRegular } from '../../system/index.ts'

const CHUNK_BYTES = 256 * 1024
/** What was found intact is not read again; a run with more artifacts than this begins to forget. */
const MAX_REMEMBERED = 100_000

/** Checks the artifacts that the events of a run name against their hashes, each once. */
export class ArtifactCheck {
  readonly #folder: string
  readonly #intact = new Set<string>()

  constructor(folder: string) {
    this.#folder = folder
  }

  /** What is wrong with an artifact; undefined when it is as it was stored. */
  async problemOf(ref: string): Promise<string | undefined> {
    const hash = artifactHash(ref)
    if (hash === undefined) return 'is no artifact'
    if (this.#intact.has(hash)) return undefined
    const found = await hashOf(join(this.#folder, hash))
    if (found !== hash) return found === undefined ? 'is missing' : 'was changed'
    if (this.#intact.size === MAX_REMEMBERED) this.#intact.clear()
    this.#intact.add(hash)
    return undefined
  }
}

/** A piece at a time, however large; a link in its place is a change, and undefined is nothing at all. */
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
