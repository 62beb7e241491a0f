import { rm, writeFile } from 'node:fs/promises'
import { messageOf, ToolError } from '../../core/errors.ts'
import { errnoOf } from '../../lib/errno.ts'
import { statsIfThere } from '../../lib/stats-if-there.ts'
import { closeDatabase, type DatabaseOptions, loadSqlite, openDatabase, openForReading } from './database.ts'
import { SqliteDriver } from './driver.ts'
import { Generation } from './generation.ts'
import { LogSync, type SyncFile } from './log-sync.ts'
import { damaged, isDamage, replaced, toStoreError } from './store-error.ts'

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
