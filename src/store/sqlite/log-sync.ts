import * as fs from 'node:fs'
import { dirname } from 'node:path'
import { messageOf, ToolError } from '../../core/index.ts'
import { shortPath } from '../../lib/index.ts'
import { GroupCommit, syncFolder } from '../../system/index.ts'

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
