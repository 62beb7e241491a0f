import { ToolError } from '../../errors.ts'
import { loadSqlite, type SqliteDatabase } from './load-sqlite.ts'
import { migrate } from './migrate.ts'
import { MIGRATIONS } from './migrations.ts'
import { secureFile } from './secure-file.ts'

/** How the file is opened. */
export interface DatabaseOptions {
  /** How long a write waits for another process; this thread does nothing else meanwhile. */
  readonly busyTimeoutMs: number
  /** The most pages of 4 KB that the file may have; as many as fit on the disk unless said. */
  readonly maxPages?: number
}

/** Opens the file of a store, makes it when there is none, and brings it to the present version. */
export function openDatabase(path: string, { busyTimeoutMs, maxPages }: DatabaseOptions): SqliteDatabase {
  const { DatabaseSync } = loadSqlite()
  secureFile(path)
  const database = new DatabaseSync(path, { timeout: busyTimeoutMs, enableForeignKeyConstraints: true })
  try {
    configure(database, path)
    migrate(database, path, MIGRATIONS)
    if (maxPages !== undefined) database.exec(`PRAGMA max_page_count = ${maxPages}`)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/**
 * Closes the file, with everything in it and nothing in its log unless others use it, too. The package lets go of it
 * only when its statements are collected, so SQLite's own last step comes late, or never.
 */
export function closeDatabase(database: SqliteDatabase): void {
  try {
    database.exec('PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)')
  } catch {
    // What stays in the log is found there by whoever opens the file next.
  }
  database.close()
}

/** A second connection that only reads, for copies. */
export function openForReading(path: string, busyTimeoutMs: number): SqliteDatabase {
  const { DatabaseSync } = loadSqlite()
  return new DatabaseSync(path, { timeout: busyTimeoutMs, readOnly: true })
}

/** A number that changes with every write of another connection. */
export const DATA_VERSION = 'PRAGMA data_version'

function configure(database: SqliteDatabase, path: string): void {
  const mode = database.prepare('PRAGMA journal_mode = WAL').get() as { journal_mode: string }
  if (mode.journal_mode !== 'wal') {
    throw new ToolError('CONFIG_INVALID', `The store ${path} cannot keep a write-ahead log on this disk.`, {
      hint: 'Use a folder on a disk of this machine, not one of the network.',
    })
  }
  // NORMAL survives the end of the process at any moment; a loss of power may take the last moments, never the file.
  database.exec('PRAGMA synchronous = NORMAL')
  database.exec('PRAGMA trusted_schema = OFF')
  database.exec('PRAGMA cache_size = -8000')
  database.exec('PRAGMA journal_size_limit = 67108864')
  database.enableDefensive?.(true)
}
