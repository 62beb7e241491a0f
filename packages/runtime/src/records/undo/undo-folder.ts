import { createHash, randomBytes } from 'node:crypto'
import { constants, existsSync, type Stats } from 'node:fs'
import { chmod, copyFile, type FileHandle, link, lstat, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Durability, FileState, Journal, KeptChange, PlaceForTree, ToolError } from '@tool-hub/core'
import { errnoOf } from '@tool-hub/core/lib'
import { GroupCommit, openRegular, syncFolder } from '@tool-hub/sandbox/system'
import { diskError } from '../log/disk-error.ts'
import type { EventBody } from '../log/events.ts'

/** What a journal needs from the record of its run; `RunRecords` provides it. */
interface JournalRecords {
  readonly folder: string
  readonly problem: ToolError | undefined
  append(event: EventBody): void
  synced(): Promise<void>
  /** Shares kept files with other machines. Default: they are not shared. */
  readonly kept?: { share(sha256: string): Promise<void> }
}

/** Whose changes are journaled, and how. */
interface RunJournalOptions {
  readonly callId: string
  readonly tool: string
  /** Maximum number of bytes that all calls of the run keep together. */
  readonly maxBytes: number
  /** With `behind` nothing waits for the disk. */
  readonly durability?: Durability
}

/** One per run: its calls share what is kept, and the limit. */
const folders = new WeakMap<JournalRecords, UndoFolder>()

/**
 * Creates the journal of one call: a change is an event of the run's chain, what it replaces is in the run's `undo/`
 * folder.
 */
export function createRunJournal(records: JournalRecords, options: RunJournalOptions): Journal {
  const { callId, tool, maxBytes, durability = 'effects' } = options
  const folder = folderOf(records)
  const secure = async (change: KeptChange): Promise<void> => {
    const kept = 'before' in change ? folder.secure(change.before.sha256) : undefined
    await Promise.all([records.synced(), kept])
  }
  return {
    keepFile: (source, state) => orDiskError(folder, () => folder.keepFile(source, state, maxBytes)),
    placeForTree: (bytes) => orDiskError(folder, () => folder.placeForTree(bytes, maxBytes)),
    async intend(change) {
      if (records.problem) throw records.problem
      records.append({ type: 'file-changing', callId, tool, ...change })
      if (durability !== 'behind') await orDiskError(folder, () => secure(change))
    },
  }
}

function folderOf(records: JournalRecords): UndoFolder {
  const present = folders.get(records)
  if (present) return present
  const folder = new UndoFolder(join(records.folder, 'undo'), (sha256) => records.kept?.share(sha256))
  folders.set(records, folder)
  return folder
}

async function orDiskError<T>({ path }: UndoFolder, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw diskError('What the change replaces cannot be kept', path, error)
  }
}

/** A kept file as it was when its content was verified. */
interface VerifiedFile {
  readonly fingerprint: string
  /** Resolves when it survives a loss of power. */
  secured?: Promise<void>
}

const FULL = new Set(['ENOSPC', 'EDQUOT'])
/** Another disk, a file of another user, too many links: then it is copied. */
const CANNOT_LINK = new Set(['EXDEV', 'EPERM', 'EMLINK', 'EACCES', 'ENOTSUP', 'EOPNOTSUPP'])

const HAS_PROC = existsSync('/proc/self/fd')

/** The `undo/` folder of a run: replaced files by their hash, each content once, and removed trees. */
export class UndoFolder {
  readonly path: string
  /** Content that may be there: content that was never kept is not searched for. */
  readonly #names = new Set<string>()
  readonly #kept = new Map<string, VerifiedFile>()
  /** Concurrent changes that replace equal content must not both count it. */
  readonly #underWay = new Map<string, Promise<string | undefined>>()
  readonly #sync: GroupCommit
  readonly #share: (sha256: string) => Promise<void> | undefined
  #measured: Promise<void> | undefined
  #bytes = 0

  /** `share` is called with every kept file, before the change that replaces it. */
  constructor(path: string, share: (sha256: string) => Promise<void> | undefined = () => undefined) {
    this.path = path
    this.#share = share
    this.#sync = new GroupCommit(() => syncFolder(path))
  }

  /** Keeps the content of a file. Returns why it was not kept, or `undefined`. */
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

  /** Reserves space for a removed tree; the caller renames it there. */
  async placeForTree(bytes: number, maxBytes: number): Promise<PlaceForTree> {
    await this.#measure()
    const refusal = this.#reserve(bytes, maxBytes)
    if (refusal !== undefined) return { refusal }
    const name = treeName(bytes)
    const release = () => {
      this.#bytes -= bytes
    }
    return { path: join(this.path, name), name, release }
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
    await Promise.all([file.datasync(), this.#sync.wait(), this.#share(sha256)]).finally(() => file.close())
  }

  async #keep(source: string, state: FileState, maxBytes: number): Promise<string | undefined> {
    const { sha256, bytes } = state
    const path = join(this.path, sha256)
    const present = await this.#look(path, sha256)
    if (present && (await this.#isKept(path, present, state))) return undefined
    const more = bytes - (present?.size ?? 0)
    const refusal = this.#reserve(more, maxBytes)
    if (refusal !== undefined) return refusal
    const stored = await storeFile(source, path, { state, isTaken: present !== undefined }).catch((error) => {
      if (FULL.has(errnoOf(error))) return 'the disk of the run records is full'
      this.#bytes -= more
      throw error
    })
    if (typeof stored === 'string') this.#bytes -= more
    if (typeof stored === 'string') return stored
    this.#names.add(sha256)
    this.#kept.set(sha256, { fingerprint: fingerprintOf(stored) })
    return undefined
  }

  async #look(path: string, sha256: string): Promise<Stats | undefined> {
    const stats = this.#names.has(sha256) ? await lstat(path).catch(ignoreMissing) : undefined
    if (!stats || stats.isFile()) return stats
    await rm(path, { recursive: true, force: true })
    return undefined
  }

  /**
   * A file with another link is still the live file of a change that was not made, or not yet: it can change at any
   * time.
   */
  async #isKept(path: string, present: Stats, { sha256, bytes }: FileState): Promise<boolean> {
    if (present.nlink > 1 || present.size !== bytes) return false
    const fingerprint = fingerprintOf(present)
    const known = this.#kept.get(sha256)
    if (known) return known.fingerprint === fingerprint
    if ((await hashOf(path)) !== sha256) return false
    this.#kept.set(sha256, { fingerprint })
    return true
  }

  #reserve(bytes: number, maxBytes: number): string | undefined {
    if (this.#bytes + bytes > maxBytes) {
      const [size, held, most] = [bytes, this.#bytes, maxBytes].map(showBytes)
      return `${size} more would not fit: the undo journal of this run holds ${held} of ${most}`
    }
    this.#bytes += bytes
    return undefined
  }

  /** A run that was opened again has kept files already; what a crash left half-copied is removed. */
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

/** Stores the content of a file under its hash. Returns why that was not possible. */
async function storeFile(
  source: string,
  path: string,
  { state, isTaken }: { readonly state: FileState; readonly isTaken: boolean },
): Promise<string | Stats> {
  const linked = isTaken ? undefined : await linkAlone(source, path)
  if (linked?.isFile() && linked.size === state.bytes && (await isTheFile(path, state))) return linked
  if (linked) await rm(path, { force: true })
  const copied = linked ? undefined : await copyWhole(source, path, state.sha256)
  return copied ?? 'it was changed while it was kept'
}

/** Adds a second link to the file if it has only one: the change then removes the first, and this one stays. */
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

/** Without /proc the source is a plain path, which may have led elsewhere: then the content is compared. */
async function isTheFile(path: string, { sha256 }: FileState): Promise<boolean> {
  return HAS_PROC || (await hashOf(path)) === sha256
}

/** Copies a file completely or not at all. Returns `undefined` if the file is no longer what it was. */
async function copyWhole(source: string, path: string, sha256: string): Promise<Stats | undefined> {
  const draft = keptDraftName(path)
  const file = await openRegular(source)
  try {
    const mode = constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE
    // Whatever a plain path leads to by then, only the intended content is kept.
    await copyFile(HAS_PROC ? `/proc/self/fd/${file.fd}` : source, draft, mode)
    await chmod(draft, 0o600)
    if ((await hashOf(draft)) !== sha256) return undefined
    await syncFile(draft)
    await rename(draft, path)
    return await lstat(path)
  } finally {
    await Promise.all([file.close(), rm(draft, { force: true })])
  }
}

/** Before it takes the place of what another change relies on. */
async function syncFile(path: string): Promise<void> {
  const file = await openRegular(path)
  await file.datasync().finally(() => file.close())
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

/** In the largest unit that leaves a number one can read: 12 bytes, 3.4 KB, 200 MB. */
function showBytes(bytes: number): string {
  const [unit, size] = bytes < 1_000 ? ['bytes', 1] : bytes < 1_000_000 ? ['KB', 1_000] : ['MB', 1_000_000]
  return `${(bytes / (size as number)).toLocaleString('en-US', { maximumFractionDigits: 1 })} ${unit}`
}

const FILE = /^[0-9a-f]{64}$/
const DRAFT = /^[0-9a-f]{64}\.[0-9a-f]{12}$/
const TREE = /^tree-(\d{1,15})-[0-9a-f]{16}$/

/**
 * A free name for a removed tree below `undo/`; its size is part of it, so that nobody has to measure the tree again.
 */
export function treeName(bytes: number): string {
  return `tree-${bytes}-${randomBytes(8).toString('hex')}`
}

/** The size that the name of a kept tree contains; `undefined` for other names. */
export function treeBytes(name: string): number | undefined {
  const match = TREE.exec(name)
  return match ? Number(match[1]) : undefined
}

/** Whether a kept file has this name: the SHA-256 of its content. */
export function isFileName(name: string): boolean {
  return FILE.test(name)
}

/** A free name beside a file that is about to be kept. */
export function keptDraftName(path: string): string {
  return `${path}.${randomBytes(6).toString('hex')}`
}

/** Whether a file was on its way to be kept. */
export function isDraft(name: string): boolean {
  return DRAFT.test(name)
}
