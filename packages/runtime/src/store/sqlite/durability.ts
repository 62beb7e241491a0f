import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { messageOf, ToolError } from '@tool-hub/core'
import { errnoOf, shortPath } from '@tool-hub/core/lib'
import { GroupCommit, prepareDataFolder, readOurs, syncFolder } from '@tool-hub/sandbox/system'
import type { SqliteDriver } from './driver.ts'

/** Syncs an open file; tests replace it with a failing disk. */
export type SyncFile = (descriptor: number, done: (error: Error | null) => void) => void

/** A write that nobody waits for is synced this long after it. */
const BEHIND_MS = 1_000

/**
 * Makes commits survive a loss of power. With `synchronous = NORMAL`, SQLite commits to its write-ahead log and does not
 * sync it. This class syncs the log in another thread, once for all callers that wait meanwhile; with `synchronous = FULL`
 * each commit would block the whole process. A sync covers all commits before it, also those of other processes.
 * Checkpoints need no help: SQLite syncs the log before and the file after them.
 */
export class LogSync {
  readonly #path: string
  readonly #syncFile: SyncFile
  readonly #group = new GroupCommit(() => this.#commit())
  #descriptor: number | undefined
  #areFoldersSynced = false
  #written = 0
  #synced = 0
  #timer: NodeJS.Timeout | undefined
  #problem: ToolError | undefined
  #isClosed = false

  /** `path` is the file of the store; its log has the same name with `-wal`. */
  constructor(path: string, syncFile: SyncFile = fs.fdatasync) {
    this.#path = path
    this.#syncFile = syncFile
  }

  /** To be called after every commit: it is synced soon, whether or not somebody waits for it. */
  wrote(): void {
    this.#written++
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      // The next caller that waits for a sync is shown why it failed, and so is `check`.
      this.synced()?.catch(() => {})
    }, BEHIND_MS).unref()
  }

  /** Resolves when all that was committed so far survives a loss of power; `undefined` if it already does. */
  synced(): Promise<void> | undefined {
    if (this.#problem) return Promise.reject(this.#problem)
    return this.#synced === this.#written ? undefined : this.#group.wait()
  }

  /** Syncs what is left. */
  async close(): Promise<void> {
    clearTimeout(this.#timer)
    // Callers that waited were shown the error; the rest is synced by the checkpoint of the last process that closes the file.
    await this.synced()?.catch(() => {})
    this.#isClosed = true
    if (this.#descriptor !== undefined) fs.closeSync(this.#descriptor)
    this.#descriptor = undefined
  }

  async #commit(): Promise<void> {
    if (this.#isClosed) return
    const upTo = this.#written
    try {
      this.#descriptor ??= fs.openSync(`${this.#path}-wal`, 'r+')
      if (!this.#areFoldersSynced) await this.#syncFolders()
    } catch (error) {
      throw this.#refused(error)
    }
    await new Promise<void>((resolve, reject) => {
      this.#syncFile(this.#descriptor!, (error) => {
        if (!error) return resolve()
        // The system may have dropped what it could not write, and a later sync would not report it: the error stays.
        this.#problem = this.#refused(error)
        reject(this.#problem)
      })
    })
    this.#synced = upTo
  }

  /** Syncs the names of the store and its log, and that of their folder. */
  async #syncFolders(): Promise<void> {
    const folder = dirname(this.#path)
    await Promise.all([syncFolder(folder), syncFolder(dirname(folder))])
    this.#areFoldersSynced = true
  }

  #refused(cause: unknown): ToolError {
    const message = `The store ${shortPath(this.#path)} cannot be made durable: ${messageOf(cause)}.`
    return new ToolError('RECORDS_UNAVAILABLE', message, {
      hint: 'Look at the disk of that folder; then start again: what was written last may be lost by a loss of power.',
      details: { path: this.#path },
      cause,
    })
  }
}

/** The file next to the store with the newest generation that the store is known to have had. */
const MARK = 'store.generation'
const MAX_BYTES = 100
/** The content of that file while the owner has not accepted a new store in place of one that was lost. */
const LOST = 'lost\n'
const READ = `SELECT value FROM counters WHERE name = 'generation'`
const WRITE = `INSERT INTO counters (name, value) VALUES ('generation', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value`

/** What the generation of a store is kept with. */
interface MarkedStore {
  readonly path: string
  readonly driver: SqliteDriver
  synced(): Promise<void> | undefined
}

/**
 * Detects a store that is older than it was: an older copy that was put in its place, or a log that was removed or
 * damaged. A number in the store grows after durable writes, and once it is synced it is written to a file next to
 * the store. So the store is never behind that file, whenever a process is killed or the power is lost.
 */
export class Generation {
  readonly #store: MarkedStore
  readonly #path: string
  readonly #markMs: number
  #timer: NodeJS.Timeout | undefined
  #advancing: Promise<void> | undefined

  constructor(store: MarkedStore, markMs: number) {
    this.#store = store
    this.#path = join(dirname(store.path), MARK)
    this.#markMs = markMs
  }

  /** To be called after durable writes. It is on the path of every call, so it only sets a timer or does nothing. */
  request(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#advancing = this.#advance()
    }, this.#markMs).unref()
  }

  /** Throws if the store is older than the file next to it says. */
  assertCurrent(): void {
    // The file first: others write it after the store.
    const marked = this.#marked()
    const own = this.#own()
    if (marked <= own) return
    throw this.#read() === LOST ? lostStore(this.#store.path) : olderStore(this.#store.path, own, marked)
  }

  /** Writes a mark that is due. What it writes to the store is written when this returns. */
  close(): Promise<void> | undefined {
    if (!this.#timer) return this.#advancing
    clearTimeout(this.#timer)
    this.#timer = undefined
    return this.#advance()
  }

  async #advance(): Promise<void> {
    try {
      const next = this.#store.driver.transaction(() => {
        const own = this.#own()
        // Until the owner accepts it, an older store must stay recognizable.
        if (this.#marked() > own) return undefined
        // A time, so that it never reaches the generations of a newer store that was given up.
        const value = Math.max(own + 1, Date.now())
        this.#store.driver.run(WRITE, [value])
        return value
      })
      if (next === undefined) return
      await this.#store.synced()
      await this.#mark(next)
    } catch {
      // The file stays as it is, and the store is ahead of it. The next write or check reports what is wrong with the disk.
    }
  }

  async #mark(value: number): Promise<void> {
    const draft = `${this.#path}.${randomBytes(4).toString('hex')}`
    try {
      await writeFile(draft, `${value}\n`, { flag: 'wx', mode: 0o600, flush: true })
      await rename(draft, this.#path)
    } catch (error) {
      await rm(draft, { force: true })
      throw error
    }
  }

  #own(): number {
    const row = this.#store.driver.get(READ) as { readonly value: number } | undefined
    return row?.value ?? 0
  }

  #marked(): number {
    const text = this.#read()
    if (text === undefined) return 0
    // A damaged mark proves nothing, so the owner has to look.
    return /^\d{1,15}\n$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY
  }

  #read(): string | undefined {
    return readOurs(this.#path, MAX_BYTES)
  }
}

/** Accepts the store of a data folder as it is, even if it is older than it was; the owner decides that. */
export async function acceptStore(folder: string): Promise<void> {
  await rm(join(folder, MARK), { force: true })
}

/**
 * Notes in a data folder that its store was lost, so that a new one is reported until the owner accepts it. If the lost
 * store left its generation, that stays instead: it says how old the store must be.
 */
export async function markLostStore(folder: string): Promise<void> {
  prepareDataFolder(folder)
  try {
    await writeFile(join(folder, MARK), LOST, { flag: 'wx', mode: 0o600, flush: true })
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error
  }
}

/** Whether a check of the store has failed because the store is older than it was, or new in place of a lost one. */
export function isOlderStore(error: unknown): error is ToolError {
  return ToolError.is(error) && (error.details?.store === 'older' || error.details?.store === 'lost')
}

function lostStore(path: string): ToolError {
  const message = `The store ${shortPath(path)} is new, although there were runs: the tokens, grants, approvals, idempotency keys and schedules of an earlier store are gone.`
  return new ToolError('CONFIG_INVALID', message, {
    hint: 'Stop the service and restore a backup, or keep the new store. Then accept it with tool-hub store adopt.',
    details: { path, store: 'lost' },
  })
}

function olderStore(path: string, own: number, marked: number): ToolError {
  const end = own === 0 ? 'nothing of what was written' : `nothing written after ${timeOf(own)}`
  const until = Number.isFinite(marked) ? `it was last used at ${timeOf(marked)}` : `${MARK} beside it is damaged`
  return new ToolError(
    'CONFIG_INVALID',
    `The store ${shortPath(path)} is older than it was: it has ${end}, but ${until}. An older copy was put in its place, or its -wal file was ` +
      'removed or damaged. Tokens revoked since then are valid again; approvals, answers, grants and schedules since then are undone.',
    {
      hint:
        'Stop the service and put the newest copy of the store in its place. If this is the newest one: revoke tokens ' +
        'again where needed, then accept it with tool-hub store adopt.',
      details: { path, store: 'older' },
    },
  )
}

function timeOf(generation: number): string {
  return new Date(generation).toISOString()
}
