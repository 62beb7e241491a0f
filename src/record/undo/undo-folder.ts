import { createHash } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { chmod, copyFile, type FileHandle, link, lstat, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { FileState } from '../../change.ts'
import { errnoOf } from '../../disk/errno.ts'
import { openRegular } from '../../disk/open-regular.ts'
import { syncFolder } from '../../disk/sync-folder.ts'
import { GroupCommit } from '../group-commit.ts'
import { draftName, isDraft, isFileName, treeBytes, treeName } from './kept-name.ts'

/** A kept file as it was when its content was known to be right. */
interface Kept {
  readonly fingerprint: string
  /** Under way or done: it survives a loss of power. */
  secured?: Promise<void>
}

const FULL = new Set(['ENOSPC', 'EDQUOT'])
/** Another disk, a file of another user, too many names: a copy does as well. */
const CANNOT_LINK = new Set(['EXDEV', 'EPERM', 'EMLINK', 'EACCES', 'ENOTSUP', 'EOPNOTSUPP'])

/** The `undo/` folder of a run: replaced files by their hash, each content once, and removed trees. */
export class UndoFolder {
  readonly path: string
  /** What may be there: a content that was never kept is not looked for. */
  readonly #names = new Set<string>()
  readonly #kept = new Map<string, Kept>()
  /** Two changes that replace equal content at once must not both count it. */
  readonly #underWay = new Map<string, Promise<string | undefined>>()
  readonly #sync: GroupCommit
  #measured: Promise<void> | undefined
  #bytes = 0

  constructor(path: string) {
    this.path = path
    this.#sync = new GroupCommit(() => syncFolder(path))
  }

  /** Keeps the content of a file; gives back why it was not kept. */
  async keepFile(source: string, state: FileState, maxBytes: number): Promise<string | undefined> {
    await this.#measure()
    const { sha256 } = state
    const before = this.#underWay.get(sha256)
    const work = before ? before.then(() => this.#keep(source, state, maxBytes)) : this.#keep(source, state, maxBytes)
    this.#underWay.set(sha256, work)
    try {
      return await work
    } finally {
      if (this.#underWay.get(sha256) === work) this.#underWay.delete(sha256)
    }
  }

  /** Makes room for a removed tree; the caller renames it there. */
  async placeForTree(
    bytes: number,
    maxBytes: number,
  ): Promise<{ readonly path: string; readonly name: string } | { readonly refusal: string }> {
    await this.#measure()
    const refusal = this.#reserve(bytes, maxBytes)
    if (refusal !== undefined) return { refusal }
    const name = treeName(bytes)
    return { path: join(this.path, name), name }
  }

  /** Resolves when a kept file survives a loss of power: its content, and its name here. */
  secure(sha256: string): Promise<void> {
    const kept = this.#kept.get(sha256)
    if (!kept) return Promise.resolve()
    kept.secured ??= this.#secure(sha256).catch((error) => {
      kept.secured = undefined
      throw error
    })
    return kept.secured
  }

  async #secure(sha256: string): Promise<void> {
    const file = await openRegular(join(this.path, sha256))
    await Promise.all([file.datasync(), this.#sync.wait()]).finally(() => file.close())
  }

  async #keep(source: string, state: FileState, maxBytes: number): Promise<string | undefined> {
    const path = join(this.path, state.sha256)
    if (await this.#isKept(path, state)) return undefined
    const refusal = this.#reserve(state.bytes, maxBytes)
    if (refusal !== undefined) return refusal
    const problem = await storeFile(source, path, state).catch((error) => {
      this.#bytes -= state.bytes
      if (FULL.has(errnoOf(error))) return 'the disk of the run records is full'
      throw error
    })
    if (typeof problem !== 'string') {
      this.#names.add(state.sha256)
      this.#kept.set(state.sha256, { fingerprint: problem.fingerprint })
      return undefined
    }
    this.#bytes -= state.bytes
    return problem
  }

  /** A kept link can be changed by whoever holds its file open; then it is kept anew. */
  async #isKept(path: string, { sha256, bytes }: FileState): Promise<boolean> {
    const stats = this.#names.has(sha256) ? await lstat(path).catch(ignoreMissing) : undefined
    if (!stats) return false
    const known = this.#kept.get(sha256)
    if (known?.fingerprint === fingerprintOf(stats)) return true
    if (!known && stats.size === bytes && (await hashOf(path)) === sha256) {
      this.#kept.set(sha256, { fingerprint: fingerprintOf(stats) })
      return true
    }
    await rm(path, { recursive: true, force: true })
    this.#kept.delete(sha256)
    this.#bytes -= stats.size
    return false
  }

  #reserve(bytes: number, maxBytes: number): string | undefined {
    if (this.#bytes + bytes > maxBytes) {
      const [size, held, most] = [bytes, this.#bytes, maxBytes].map((count) => megabytes(count))
      return `${size} MB more would not fit: the undo journal of this run holds ${held} of ${most} MB`
    }
    this.#bytes += bytes
    return undefined
  }

  /** A run that was opened again has kept something already; what a crash left half-copied goes. */
  #measure(): Promise<void> {
    this.#measured ??= this.#addUp().catch((error) => {
      this.#measured = undefined
      throw error
    })
    return this.#measured
  }

  async #addUp(): Promise<void> {
    for (const name of await readdir(this.path)) {
      const path = join(this.path, name)
      this.#names.add(name)
      if (isFileName(name)) this.#bytes += (await lstat(path).catch(ignoreMissing))?.size ?? 0
      else if (isDraft(name)) await rm(path, { force: true })
      else this.#bytes += treeBytes(name) ?? 0
    }
  }
}

/** Puts the content of a file under its name; gives back why that is not what was to be kept. */
async function storeFile(source: string, path: string, state: FileState): Promise<string | { fingerprint: string }> {
  const stats = (await linkAlone(source, path)) ?? (await copyWhole(source, path, state.sha256))
  if (stats?.isFile() && stats.size === state.bytes) return { fingerprint: fingerprintOf(stats) }
  await rm(path, { force: true })
  return 'it was changed while it was kept'
}

/** A second name for the file, where it is the only other one: the change then takes the first, and this one stays. */
async function linkAlone(source: string, path: string): Promise<Stats | undefined> {
  if ((await lstat(source)).nlink !== 1) return undefined
  try {
    await link(source, path)
    return await lstat(path)
  } catch (error) {
    if (CANNOT_LINK.has(errnoOf(error))) return undefined
    throw error
  }
}

/** A copy that is there whole or not at all; undefined when the file is no longer what it was. */
async function copyWhole(source: string, path: string, sha256: string): Promise<Stats | undefined> {
  const draft = draftName(path)
  const file = await openRegular(source)
  try {
    const mode = constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE
    await copyFile(`/proc/self/fd/${file.fd}`, draft, mode)
    await chmod(draft, 0o600)
    if ((await hashOf(draft)) !== sha256) return undefined
    await rename(draft, path)
    return await lstat(path)
  } finally {
    await Promise.all([file.close(), rm(draft, { force: true })])
  }
}

/** The SHA-256 of a regular file, read piece by piece. */
export async function hashOf(path: string): Promise<string> {
  const file: FileHandle = await openRegular(path)
  try {
    const hash = createHash('sha256')
    for await (const chunk of file.createReadStream({ autoClose: false })) hash.update(chunk)
    return hash.digest('hex')
  } finally {
    await file.close()
  }
}

/** Links and permissions may change, content does not without these. */
function fingerprintOf({ ino, size, mtimeMs }: Stats): string {
  return `${ino} ${size} ${mtimeMs}`
}

function ignoreMissing(error: unknown): undefined {
  if (errnoOf(error) !== 'ENOENT') throw error
}

function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toLocaleString('en-US', { maximumFractionDigits: 1 })
}
