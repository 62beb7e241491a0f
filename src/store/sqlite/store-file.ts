import { rm, writeFile } from 'node:fs/promises'
import { messageOf, ToolError } from '../../core/index.ts'
import { errnoOf, shortPath } from '../../lib/index.ts'
import { statsIfThere } from '../../system/index.ts'
import { closeDatabase, type DatabaseOptions, loadSqlite, openDatabase, openForReading } from './database.ts'
import { SqliteDriver } from './driver.ts'
import { Generation } from './generation.ts'
import { LogSync, type SyncFile } from './log-sync.ts'

/** How the file is opened and synced. */
export interface StoreFileOptions extends DatabaseOptions {
  /** How often to look for commits of other processes while somebody listens. */
  readonly pollMs: number
  /** How long after a durable write the file `store.generation` is updated. */
  readonly markMs: number
  /** For tests of a failing disk. */
  readonly syncFile?: SyncFile
}

/** A backup is one step: between two steps, a write of another process would make it start again. */
const ALL_PAGES = 0x7fffffff

/** The file of a store, opened at its first use. */
export class StoreFile {
  readonly path: string
  readonly driver: SqliteDriver
  readonly generation: Generation
  readonly #options: StoreFileOptions
  readonly #log: LogSync
  /** What was found wrong with the file; it does not get better by itself. */
  #damage: ToolError | undefined
  #isExamined = false
  /** Which files the store and its log were when they were first looked at. */
  #files: string | undefined

  constructor(path: string, options: StoreFileOptions) {
    this.path = path
    this.#options = options
    this.#log = new LogSync(path, options.syncFile)
    this.driver = new SqliteDriver({
      open: () => openDatabase(path, options),
      close: closeDatabase,
      explain: (error) => this.#explain(error),
      onCommit: () => this.#log.wrote(),
      pollMs: options.pollMs,
    })
    this.generation = new Generation(this, options.markMs)
  }

  /** Resolves when all that was written so far survives a loss of power; `undefined` if it already does. */
  synced(): Promise<void> | undefined {
    return this.#log.synced()
  }

  /** Throws if the file is damaged. The first check reads the whole file; later ones report what was found in use. */
  assertIntact(): void {
    if (!this.#isExamined) {
      const [first] = this.driver.all('PRAGMA quick_check(1)') as readonly { readonly quick_check: string }[]
      if (first?.quick_check !== 'ok')
        this.#damage ??= damaged(this.path, first?.quick_check ?? 'it cannot be examined')
      this.#isExamined = true
    }
    if (this.#damage) throw this.#damage
  }

  /** Throws if the file or its log was removed or replaced since the first check: what is written now would be lost. */
  assertInPlace(): void {
    const files = [this.path, `${this.path}-wal`].map(identityOf).join(' ')
    this.#files ??= files
    if (files !== this.#files) throw replaced(this.path)
  }

  /**
   * Copies the whole file as it is at one moment, in another thread and through a connection of its own, so that neither
   * this process nor others wait for it.
   */
  async backUp(path: string): Promise<void> {
    this.driver.open()
    await createNew(path)
    const source = openForReading(this.path, this.#options.busyTimeoutMs)
    try {
      const { backup } = loadSqlite()
      if (backup) await backup(source, path, { rate: ALL_PAGES })
      else source.exec(`VACUUM INTO '${path.replaceAll("'", "''")}'`)
    } catch (error) {
      await rm(path, { force: true })
      throw toStoreError(error, this.path)
    } finally {
      source.close()
    }
  }

  async close(): Promise<void> {
    const marked = this.generation.close()
    this.driver.shut()
    await this.#log.close()
    await marked
    await this.driver.close()
  }

  #explain(error: unknown): unknown {
    if (isDamage(error)) this.#damage ??= damaged(this.path, messageOf(error), error)
    return toStoreError(error, this.path)
  }
}

/** For this user alone; it is filled as an empty database would be. */
async function createNew(path: string): Promise<void> {
  try {
    await writeFile(path, '', { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if (errnoOf(error) === 'EEXIST')
      throw new ToolError('CONFLICT', `${path} exists already.`, { hint: 'Name a new file for the backup.' })
    if (errnoOf(error) === 'ENOENT')
      throw new ToolError('NOT_FOUND', `There is no folder for ${path}.`, { hint: 'Make the folder first.' })
    throw error
  }
}

function identityOf(path: string): string {
  const stats = statsIfThere(path)
  return stats ? `${stats.dev}:${stats.ino}` : 'none'
}

/** The primary code of each message: not every method of SQLite reports the number. */
const CODES: ReadonlyMap<string, number> = new Map([
  ['database is locked', 5],
  ['database table is locked', 6],
  ['attempt to write a readonly database', 8],
  ['disk I/O error', 10],
  ['database disk image is malformed', 11],
  ['database or disk is full', 13],
  ['unable to open database file', 14],
  ['file is not a database', 26],
])

/** An error of SQLite as one that says what to do; any other error is returned as it is. */
export function toStoreError(error: unknown, path: string): unknown {
  const code = codeOf(error)
  const name = shortPath(path)
  const details = { path, sqlite: messageOf(error) }
  const options = (hint: string, retryable = false) => ({ hint, retryable, details, cause: error })
  switch (code) {
    case 5:
    case 6:
      return new ToolError(
        'CONFLICT',
        `The store ${name} is locked by another process.`,
        options('Try again in a few seconds; if it stays so, end the process that has the file open.', true),
      )
    case 13:
      return new ToolError(
        'RECORDS_UNAVAILABLE',
        `The store ${name} cannot grow: the disk is full.`,
        options('Free space on the disk of that folder; nothing was written.', true),
      )
    case 8:
    case 10:
      return new ToolError(
        'RECORDS_UNAVAILABLE',
        `The store ${name} cannot be written: ${messageOf(error)}.`,
        options('Look at the disk of that folder, and whether it may be written.', true),
      )
    case 11:
    case 26:
      return damaged(path, messageOf(error), error)
    case 3:
    case 14:
      return new ToolError(
        'CONFIG_INVALID',
        `The store ${name} cannot be opened: ${messageOf(error)}.`,
        options('Look whether the folder is there and yours, and how many files are open.'),
      )
    default:
      return error
  }
}

/** The error for a file that cannot be relied on: what it contains may be wrong or incomplete. */
export function damaged(path: string, sqlite: string, cause?: unknown): ToolError {
  return new ToolError('CONFIG_INVALID', `The store ${shortPath(path)} is damaged, or no store: ${sqlite}.`, {
    hint: 'Move it away with its -wal and -shm files and put a backup in its place; without one, start anew.',
    details: { path, sqlite },
    cause,
  })
}

/** The error for a file that is not the one that was opened. */
export function replaced(path: string): ToolError {
  return new ToolError(
    'CONFIG_INVALID',
    `The store ${shortPath(path)} or its -wal file was removed or replaced while it is in use: what is written now is lost at the next start.`,
    {
      hint: 'Copy the store with tool-hub store backup only; stop the service, put the newest copy in its place and start it again.',
      details: { path, store: 'replaced' },
    },
  )
}

/** Whether SQLite reports that the file is damaged. */
export function isDamage(error: unknown): boolean {
  const code = codeOf(error)
  return code === 11 || code === 26
}

/** The primary code; `undefined` for other errors. */
function codeOf(error: unknown): number | undefined {
  if (!(error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR')) return undefined
  if ('errcode' in error && typeof error.errcode === 'number') return error.errcode & 0xff
  return CODES.get(error.message)
}
