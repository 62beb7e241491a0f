import { rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type Awaitable, messageOf, type Store, ToolError } from '@tool-hub/core'
import { errnoOf } from '@tool-hub/core/lib'
import { perform, type StoreOfFeature } from '@tool-hub/core/sql'
import { statsIfThere } from '@tool-hub/sandbox/system'
import { sqliteCallSearch } from './sql/call-search.ts'
import { createEvents } from './sql/events.ts'
import { bindAll, createRepositories, emptyAtFirst, type StoreParts, sweep } from './sql/repositories.ts'
import {
  closeDatabase,
  damaged,
  isDamage,
  loadSqlite,
  openDatabase,
  openForReading,
  replaced,
  type SqliteFileOptions,
  toStoreError,
} from './sqlite/database.ts'
import { SqliteDriver } from './sqlite/driver.ts'
import { Generation, LogSync, type SyncFile } from './sqlite/durability.ts'
import { type FeatureTables, storeTables } from './store-tables.ts'

/** Options of `openFileStore`. */
export interface OpenStoreOptions {
  /** How long a write waits for another process; the thread is blocked meanwhile. Default: 2 s. */
  readonly busyTimeoutMs?: number
  /** How often to look for events of other processes while somebody watches. Default: every 200 ms. */
  readonly pollMs?: number
  /** Maximum number of 4 KB pages of the file. Default: as many as fit on the disk. */
  readonly maxPages?: number
  /** Dates events whose cause has no time of its own. Default: the clock of the machine. */
  readonly now?: () => number
  /** How long after a durable write the file `store.generation` is updated. Default: 1 s. */
  readonly markMs?: number
  /** Syncs the log of the file; for tests of a failing disk. */
  readonly syncFile?: SyncFile
}

/** The store of a data folder, in its file `store.db`: created and opened at its first use, shared by processes. */
export function openFileStore(folder: string, options: OpenStoreOptions & FeatureTables): Store {
  const { features } = options
  const { busyTimeoutMs = 2_000, pollMs = 200, maxPages, now = Date.now, markMs = 1_000, syncFile } = options
  const path = join(resolve(folder), 'store.db')
  const tables = storeTables(features)
  const file = new StoreFile(path, { tables, busyTimeoutMs, maxPages, pollMs, markMs, syncFile })
  const { driver } = file
  const events = createEvents(driver)
  const parts = bindAll(driver, createRepositories({ features, events, search: sqliteCallSearch, now }))
  return {
    location: { folder: resolve(folder) },
    ...emptyAtFirst(
      withDurability(file, parts, features),
      features,
      () => driver.isOpen || statsIfThere(path) !== undefined,
    ),
    events: { append: events.append, watch: events.watch },
    async check() {
      file.assertIntact()
      file.generation.assertCurrent()
      driver.run(WRITE_CHECK)
      driver.run(`DELETE FROM counters WHERE name = 'check'`)
      await file.synced()
      file.assertInPlace()
    },
    backup: (target) => file.backUp(target),
    sweep: (time) => perform(driver, sweep(time, features)),
    async close() {
      events.close()
      await file.close()
    },
  }
}

const WRITE_CHECK = `INSERT INTO counters (name, value) VALUES ('check', 1)
 ON CONFLICT (name) DO UPDATE SET value = counters.value + 1`

/**
 * The methods that resolve only once what they wrote survives a loss of power, because a person or a caller relies on it:
 * a key that is claimed, an answer that is used and a schedule that fires are on disk before their side effect, which must
 * not happen twice. Everything else is synced within a second: budgets, rates, the index, events, leases, the last use of
 * a token.
 */
const DURABLE: Readonly<Record<string, readonly string[] | undefined>> = {
  keys: ['claim', 'finish'],
  approvals: ['file', 'answer', 'adopt', 'use'],
  grants: ['put', 'remove'],
  tokens: ['add', 'rotate', 'remove'],
  signIns: ['add', 'remove', 'removeOf'],
  jobs: ['add'],
  heads: ['put', 'remove'],
  documents: ['write'],
} satisfies { readonly [Part in keyof StoreParts]?: readonly (keyof StoreParts[Part])[] }

type Method = (...values: never[]) => Awaitable<unknown>

/** The same parts, whose durable methods wait until the log of the file is synced. */
function withDurability(file: StoreFile, parts: StoreParts, features: readonly StoreOfFeature[]): StoreParts {
  const methodsOf = Object.assign({}, DURABLE, ...features.map(({ durable }) => durable)) as typeof DURABLE
  const durable = Object.entries(methodsOf).map(([name, methods]) => {
    const part: Readonly<Record<string, Method>> = { ...parts[name as keyof StoreParts] }
    const waiting = (methods ?? []).map((method) => [method, untilSynced(file, part[method]!)])
    return [name, { ...part, ...Object.fromEntries(waiting) }]
  })
  return { ...parts, ...Object.fromEntries(durable) }
}

function untilSynced(file: StoreFile, write: Method): Method {
  return (...values) => {
    const outcome = write(...values)
    const syncing = file.synced()
    if (!syncing) return outcome
    file.generation.request()
    return syncing.then(() => outcome)
  }
}

/** How the file is opened and synced. */
interface StoreFileOptions extends SqliteFileOptions {
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
class StoreFile {
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
      const problem = this.driver.examine()
      if (problem !== undefined) this.#damage ??= damaged(this.path, problem)
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

/** Creates an empty file for this user alone; refuses one that is there. */
export async function createNew(path: string): Promise<void> {
  try {
    await writeFile(path, '', { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if (errnoOf(error) === 'EEXIST')
      throw new ToolError('CONFLICT', `${path} exists already.`, { hint: 'Name a new file for the backup.' })
    if (errnoOf(error) === 'ENOENT')
      throw new ToolError('NOT_FOUND', `The folder of ${path} does not exist.`, { hint: 'Make the folder first.' })
    throw error
  }
}

function identityOf(path: string): string {
  const stats = statsIfThere(path)
  return stats ? `${stats.dev}:${stats.ino}` : 'none'
}
