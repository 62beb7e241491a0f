import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type DatabaseOptions, ToolError } from '../core/index.ts'
import type { Queries } from '../core/sql/index.ts'
import { assertOurs, statsIfThere } from '../system/index.ts'
import type { CopyPlace } from './copy-store.ts'
import { migratePostgres, openPostgresPlace, postgresVersion, type StoreOptions } from './postgres.ts'
import {
  closeDatabase,
  openDatabase,
  openDatabaseFile,
  openForReading,
  type SqliteDatabase,
  toStoreError,
  versionOf,
} from './sqlite/database.ts'
import { SqliteDriver } from './sqlite/driver.ts'
import { MIGRATIONS } from './sqlite/migrations.ts'
import { createNew } from './sqlite.ts'

/** How long to wait for another process that writes to the file. */
const BUSY_MS = 5_000

/** Where the store is, for messages: never with a password. */
export function storePlace({ data = '.tool-hub', database }: StoreOptions): string {
  if (!database) return resolve(data, 'store.db')
  const { hostname, port, pathname, searchParams } = new URL(database.url)
  const host = searchParams.get('host') || decodeURIComponent(hostname) || 'localhost'
  return `${host}:${port || 5432}${pathname} (schema ${database.schema ?? 'tool_hub'})`
}

/** The versions of the tables of a store: what it has (0 if it has no tables), and what this tool-hub needs. */
export interface StoreVersion {
  readonly from: number
  readonly to: number
}

/** The version of the store that the options of a hub name; nothing is changed. */
export async function storeVersion(options: StoreOptions): Promise<StoreVersion> {
  if (options.database) return postgresVersion(options.database.url, options.database)
  const path = storePlace(options)
  if (!statsIfThere(path)) return { from: 0, to: MIGRATIONS.length }
  const database = openForReading(path, BUSY_MS)
  try {
    return { from: versionOf(database, path, MIGRATIONS), to: MIGRATIONS.length }
  } catch (error) {
    throw toStoreError(error, path)
  } finally {
    database.close()
  }
}

/** Takes the tables of the store to the version of this tool-hub; returns the versions before and after. */
export async function migrateStore(options: StoreOptions): Promise<StoreVersion> {
  if (options.database) return migratePostgres(options.database.url, options.database)
  const version = await storeVersion(options)
  closeDatabase(openDatabase(storePlace(options), { busyTimeoutMs: BUSY_MS }))
  return version
}

/** Opens a store to copy from: a data folder, the file of a backup, or a database. */
export async function openSource(place: string | DatabaseOptions): Promise<CopyPlace> {
  if (typeof place !== 'string') return openPostgresPlace(place.url, place)
  const path = resolve(place)
  const stats = statsIfThere(path)
  if (stats?.isFile()) return readingFile(path)
  const file = join(path, 'store.db')
  if (!statsIfThere(file))
    throw new ToolError('NOT_FOUND', `There is no store in ${path}.`, {
      hint: 'Name a data folder with a store.db, the file of a backup, or a postgres:// URL.',
    })
  return sqlitePlace(file, openDatabase(file, { busyTimeoutMs: BUSY_MS }))
}

/** Opens an empty store to copy to: a data folder or a database. */
export async function openTarget(place: string | DatabaseOptions): Promise<CopyPlace> {
  if (typeof place !== 'string') return openPostgresPlace(place.url, place)
  const folder = resolve(place)
  if (statsIfThere(folder)?.isFile())
    throw new ToolError('CONFLICT', `${folder} is a file.`, { hint: 'Name a data folder or a postgres:// URL.' })
  const file = join(folder, 'store.db')
  const isNew = !statsIfThere(file)
  return sqlitePlace(file, openDatabase(file, { busyTimeoutMs: BUSY_MS }), { isNew })
}

/** Creates the file of a backup, for this user alone. */
export async function openNewFile(path: string): Promise<CopyPlace> {
  await createNew(path)
  return sqlitePlace(path, openDatabaseFile(path, { busyTimeoutMs: BUSY_MS }), { isNew: true, isSingleFile: true })
}

/** The file of a backup stays as it is, so it must have the current version. */
function readingFile(path: string): CopyPlace {
  assertOurs(statsIfThere(path)!, path)
  const database = openForReading(path, BUSY_MS)
  try {
    const version = versionOf(database, path, MIGRATIONS)
    if (version === MIGRATIONS.length) return sqlitePlace(path, database)
    throw new ToolError(
      'CONFIG_INVALID',
      `The store ${path} has version ${version}; a copy needs version ${MIGRATIONS.length}.`,
      { hint: 'Put it into a data folder as store.db, run tool-hub store migrate there, and copy that folder.' },
    )
  } catch (error) {
    database.close()
    throw toStoreError(error, path)
  }
}

/** A connection of its own, so that a transaction can wait for the other database. */
function sqlitePlace(
  path: string,
  database: SqliteDatabase,
  { isNew = false, isSingleFile = false }: { readonly isNew?: boolean; readonly isSingleFile?: boolean } = {},
): CopyPlace {
  const driver = new SqliteDriver({
    open: () => database,
    close: closeDatabase,
    explain: (error) => toStoreError(error, path),
  })
  let isWritten = false
  const transact = async <T>(begin: string, work: (queries: Queries) => Promise<T>): Promise<T> => {
    driver.run(begin)
    try {
      const result = await work(driver)
      driver.run('COMMIT')
      return result
    } catch (error) {
      driver.run('ROLLBACK')
      throw error
    }
  }
  return {
    name: path,
    read: (work) => transact('BEGIN', work),
    async write(work) {
      database.exec('PRAGMA synchronous = FULL')
      const result = await transact('BEGIN IMMEDIATE', work)
      isWritten = true
      return result
    },
    async close() {
      if (isSingleFile && isWritten) database.exec('PRAGMA journal_mode = DELETE')
      await driver.close()
      if (!isNew || isWritten) return
      for (const suffix of ['', '-wal', '-shm']) await rm(`${path}${suffix}`, { force: true })
    },
  }
}
