import * as fs from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { messageOf, ToolError } from '@tool-hub/core'
import { errnoOf, shortPath } from '@tool-hub/core/lib'
import type { SqlValue } from '@tool-hub/core/sql'
import { assertOurs, prepareDataFolder } from '@tool-hub/sandbox/system'
import type { StoreTables } from '../store-tables.ts'

/** The part of a prepared statement that is used here. */
export interface SqliteStatement {
  run(...values: SqlValue[]): { readonly changes: number | bigint }
  get(...values: SqlValue[]): unknown
  all(...values: SqlValue[]): unknown[]
}

/** The part of an open database that is used here. */
export interface SqliteDatabase {
  exec(sql: string): void
  prepare(sql: string): SqliteStatement
  close(): void
  /** Forbids statements that could damage the file; older versions of Node have no such method. */
  enableDefensive?(active: boolean): void
}

/** What `@photostructure/sqlite` and `node:sqlite` have in common. */
export interface SqliteModule {
  readonly DatabaseSync: new (
    path: string,
    options: { readonly timeout: number; readonly readOnly?: boolean; readonly enableForeignKeyConstraints?: boolean },
  ) => SqliteDatabase
  /** Copies in another thread; older versions of Node have no such function. */
  readonly backup?: (source: SqliteDatabase, path: string, options: { readonly rate: number }) => Promise<number>
}

/** The mode bits of other users. */
const OTHER_USERS = 0o077

let sqlite: SqliteModule | undefined

/** Loads SQLite at its first use, so that importing tool-hub does not. */
export function loadSqlite(): SqliteModule {
  sqlite ??= findSqlite(loadQuietly)
  return sqlite
}

/**
 * The SQLite of Node where it has all that the add-on has, which is since Node 24; else the add-on; without it also an
 * older one of Node that has the full-text search which the store needs: since Node 22.16.
 */
export function findSqlite(load: (name: string) => unknown): SqliteModule {
  const causes: unknown[] = []
  const attempt = (name: string): SqliteModule | undefined => {
    try {
      return load(name) as SqliteModule
    } catch (cause) {
      causes.push(cause)
      return undefined
    }
  }
  const ofNode = attempt('node:sqlite')
  const own = ofNode && hasFullTextSearch(ofNode) ? ofNode : undefined
  if (own && 'enableDefensive' in own.DatabaseSync.prototype) return own
  const found = attempt('@photostructure/sqlite') ?? own
  if (found) return found
  const [why] = messageOf(causes.at(-1)).split('\n', 1)
  throw new ToolError('CONFIG_INVALID', `SQLite cannot be loaded: ${why}`, {
    hint: 'Use Node 22.16 or newer, which has SQLite, or run npm install @photostructure/sqlite.',
    cause: new AggregateError(causes),
  })
}

function hasFullTextSearch({ DatabaseSync }: SqliteModule): boolean {
  const database = new DatabaseSync(':memory:', { timeout: 0 })
  const row = database.prepare("SELECT sqlite_compileoption_used('ENABLE_FTS5') AS used").get()
  database.close()
  return (row as { readonly used: number }).used === 1
}

/** Loads a module without the warning that SQLite is experimental in Node: what is used of it is tested there. */
function loadQuietly(name: string): unknown {
  const { emitWarning } = process
  process.emitWarning = ((warning: string | Error, ...rest: readonly unknown[]) => {
    if (!String(warning).startsWith('SQLite is an experimental'))
      Reflect.apply(emitWarning, process, [warning, ...rest])
  }) as typeof emitWarning
  try {
    return createRequire(import.meta.url)(name)
  } finally {
    process.emitWarning = emitWarning
  }
}

/** How the file is opened. */
export interface SqliteFileOptions {
  readonly tables: StoreTables
  /** How long a write waits for another process; the thread is blocked meanwhile. */
  readonly busyTimeoutMs: number
  /** Maximum number of 4 KB pages of the file. Default: as many as fit on the disk. */
  readonly maxPages?: number
}

/** Opens the file of a store, creates it if there is none, and migrates it to the current version. */
export function openDatabase(path: string, options: SqliteFileOptions): SqliteDatabase {
  secureFile(path)
  return openDatabaseFile(path, options)
}

/** The same for a file that need not be in a data folder, such as a backup. */
export function openDatabaseFile(path: string, { tables, busyTimeoutMs, maxPages }: SqliteFileOptions): SqliteDatabase {
  const { DatabaseSync } = loadSqlite()
  const database = new DatabaseSync(path, { timeout: busyTimeoutMs, enableForeignKeyConstraints: true })
  try {
    configure(database, path)
    migrate(database, path, tables.sqlite)
    if (maxPages !== undefined) database.exec(`PRAGMA max_page_count = ${maxPages}`)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/**
 * Closes the file and moves its log into it, unless others use it, too. The package releases the file only when its
 * statements are collected, so SQLite's own last checkpoint comes late, or never.
 */
export function closeDatabase(database: SqliteDatabase): void {
  try {
    database.exec('PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)')
  } catch {
    // What stays in the log is read by the next process that opens the file.
  }
  database.close()
}

/** A second connection that only reads, for backups. */
export function openForReading(path: string, busyTimeoutMs: number): SqliteDatabase {
  const { DatabaseSync } = loadSqlite()
  return new DatabaseSync(path, { timeout: busyTimeoutMs, readOnly: true })
}

/** A database in memory, at the current version. */
export function openMemoryDatabase(tables: StoreTables): SqliteDatabase {
  const { DatabaseSync } = loadSqlite()
  const database = new DatabaseSync(':memory:', { timeout: 0, enableForeignKeyConstraints: true })
  migrate(database, 'in memory', tables.sqlite)
  return database
}

function configure(database: SqliteDatabase, path: string): void {
  const mode = database.prepare('PRAGMA journal_mode = WAL').get() as { journal_mode: string }
  if (mode.journal_mode !== 'wal') {
    throw new ToolError('CONFIG_INVALID', `The store ${path} cannot keep a write-ahead log on this disk.`, {
      hint: 'Use a folder on a disk of this machine, not one of the network.',
    })
  }
  // NORMAL survives the end of the process at any moment; a loss of power may undo the last commits, never damage the file.
  database.exec('PRAGMA synchronous = NORMAL')
  database.exec('PRAGMA trusted_schema = OFF')
  database.exec('PRAGMA cache_size = -8000')
  database.exec('PRAGMA journal_size_limit = 67108864')
  database.enableDefensive?.(true)
}

/**
 * Creates the folder and the file of a store for this user alone; refuses a file that another user could have written.
 * An existing file is never opened here: closing any descriptor of it would drop the locks that SQLite holds on it
 * elsewhere in this process.
 */
function secureFile(path: string): void {
  prepareDataFolder(dirname(path))
  if (createFile(path)) return
  const stats = fs.lstatSync(path)
  if (!stats.isFile()) {
    throw new ToolError('CONFIG_INVALID', `${path} is not a regular file.`, {
      hint: `Look who made it; then rm ${path}.`,
    })
  }
  assertOurs(stats, path)
  if ((stats.mode & OTHER_USERS) !== 0) fs.chmodSync(path, 0o600)
}

function createFile(path: string): boolean {
  try {
    fs.closeSync(fs.openSync(path, 'wx', 0o600))
    return true
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false
    throw error
  }
}

/** Marks the file as a store of tool-hub: "thub". */
const APPLICATION_ID = 0x74687562

/** Takes a file from its version, which is in `user_version`, to the last one, each step as a whole. */
export function migrate(database: SqliteDatabase, path: string, steps: readonly string[]): void {
  if (versionOf(database, path, steps) === steps.length) return
  while (!takeStep(database, path, steps));
}

function takeStep(database: SqliteDatabase, path: string, steps: readonly string[]): boolean {
  // Read again under the lock: several processes may open a new file at the same time.
  database.exec('BEGIN IMMEDIATE')
  try {
    const version = versionOf(database, path, steps)
    const step = steps[version]
    if (step !== undefined) {
      database.exec(step)
      database.exec(`PRAGMA application_id = ${APPLICATION_ID}`)
      database.exec(`PRAGMA user_version = ${version + 1}`)
    }
    database.exec('COMMIT')
    return version + 1 >= steps.length
  } catch (error) {
    rollBack(database)
    throw error
  }
}

/** The version of a file; refuses one of another program, and one that is newer than these steps. */
export function versionOf(database: SqliteDatabase, path: string, steps: readonly string[]): number {
  const version = pragma(database, 'user_version')
  const isEmpty = database.prepare('SELECT 1 FROM sqlite_master LIMIT 1').get() === undefined
  if (isEmpty && version === 0) return 0
  if (pragma(database, 'application_id') !== APPLICATION_ID) {
    throw new ToolError('CONFIG_INVALID', `${path} is a database of another program, not a store.`, {
      hint: 'Use another folder.',
    })
  }
  if (version <= steps.length) return version
  throw new ToolError(
    'CONFIG_INVALID',
    `The store ${path} has version ${version}; this tool-hub knows up to ${steps.length}.`,
    { hint: 'Use the newer tool-hub that wrote it, or put back a backup from before.' },
  )
}

function pragma(database: SqliteDatabase, name: 'user_version' | 'application_id'): number {
  const row = database.prepare(`PRAGMA ${name}`).get() as Readonly<Record<string, number>>
  return row[name] ?? 0
}

function rollBack(database: SqliteDatabase): void {
  try {
    database.exec('ROLLBACK')
  } catch {
    // SQLite has rolled back by itself, as it does on a full disk; the first error is the one that counts.
  }
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
