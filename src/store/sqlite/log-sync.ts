import * as fs from 'node:fs'
import { dirname } from 'node:path'
import { GroupCommit } from '../../disk/group-commit.ts'
import { shortPath } from '../../disk/short-path.ts'
import { syncFolder } from '../../disk/sync-folder.ts'
import { messageOf, ToolError } from '../../errors.ts'

/** Syncs an open file; tests put a failing disk here. */
export type SyncFile = (descriptor: number, done: (error: Error | null) => void) => void

/** What nobody waits for is synced this long after it was written. */
const BEHIND_MS = 1_000

/**
 * Makes commits survive a loss of power. SQLite commits with `synchronous = NORMAL`: into its write-ahead log, which it
 * does not sync. Here that log is synced in another thread, once for all who wait meanwhile; with `synchronous = FULL`
 * each commit would sync by itself, and the whole process would wait for it. A sync covers all commits before it, also
 * those of other processes. Checkpoints need no help: SQLite syncs the log before and the file after.
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

  /** `path` is that of the store; its log lies beside it. */
  constructor(path: string, syncFile: SyncFile = fs.fdatasync) {
    this.#path = path
    this.#syncFile = syncFile
  }

  /** Something was committed; it is synced soon, whether or not somebody waits for it. */
  wrote(): void {
    this.#written++
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      // Whoever waits for a sync is told why it fails, and so is `check`.
      this.synced()?.catch(() => {})
    }, BEHIND_MS).unref()
  }

  /** Resolves when all that was committed so far survives a loss of power; undefined when it does already. */
  synced(): Promise<void> | undefined {
    if (this.#problem) return Promise.reject(this.#problem)
    return this.#synced === this.#written ? undefined : this.#group.wait()
  }

  /** Syncs what is left. */
  async close(): Promise<void> {
    clearTimeout(this.#timer)
    // Whoever waited for it was told; what is left is synced by the checkpoint of whoever closes the file last.
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
        // The system may have dropped what it could not store, and a later sync would not tell: this one stays.
        this.#problem = this.#refused(error)
        reject(this.#problem)
      })
    })
    this.#synced = upTo
  }

  /** The names of the store and its log, and that of their folder. */
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
