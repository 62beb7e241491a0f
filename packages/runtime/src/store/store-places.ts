import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type HubOptions, ToolError } from '@tool-hub/core'
import type { Queries } from '@tool-hub/core/sql'
import { assertOurs, statsIfThere } from '@tool-hub/sandbox/system'
import type { CopyPlace } from './copy-store.ts'
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
import { createNew } from './sqlite.ts'
import { type FeatureTables, type StoreTables, storeTables } from './store-tables.ts'

/** How long to wait for another process that writes to the file. */
const BUSY_MS = 5_000

/** The options of a hub that say where its store is. */
export type StoreOptions = Pick<HubOptions, 'data' | 'database'>

/** Where the store is, for messages: never with a password. */
export function storePlace({ data = '.tool-hub', database }: StoreOptions): string {
  if (!database) return resolve(data, 'store.db')
  const { hostname, port, pathname, searchParams } = new URL(database.url)
  const host = searchParams.get('host') || decodeURIComponent(hostname) || 'localhost'
  return `${host}:${port || 5432}${pathname} (schema ${database.schema ?? 'tool_hub'})`
}

/** Parses the URL of a database, which may name a socket instead of a host. Throws CONFIG_INVALID, never with the URL. */
export function parseDatabaseUrl(text: string): URL {
  try {
    // A socket has no host, and is in the parameter `host`.
    const url = new URL(text.replace(/^(\w+:\/\/[^/?#]*@)(?=[/?#]|$)/, '$1localhost'))
    // A % that encodes nothing is found here, not where a part is used.
    for (const part of [url.username, url.password, url.hostname, url.pathname]) decodeURIComponent(part)
    if (url.protocol === 'postgres:' || url.protocol === 'postgresql:') return url
  } catch {
    // Not with the text, which has the password in it.
    throw unreadable('The URL of the store cannot be read.')
  }
  throw unreadable('The URL of the store does not begin with postgres://.')
}

function unreadable(message: string): ToolError {
  return new ToolError('CONFIG_INVALID', message, {
    hint: 'Write it as postgres://USER:PASSWORD@HOST:5432/DATABASE, with %40 for an @ and %25 for a % in the password.',
  })
}

/** The versions of the tables of a store: what it has (0 if it has no tables), and what this tool-hub needs. */
export interface StoreVersion {
  readonly from: number
  readonly to: number
}

/** The version of the store in a data folder; nothing is changed. */
export async function fileStoreVersion(data: string | undefined, { features }: FeatureTables): Promise<StoreVersion> {
  const steps = storeTables(features).sqlite
  const path = storePlace({ data })
  if (!statsIfThere(path)) return { from: 0, to: steps.length }
  const database = openForReading(path, BUSY_MS)
  try {
    return { from: versionOf(database, path, steps), to: steps.length }
  } catch (error) {
    throw toStoreError(error, path)
  } finally {
    database.close()
  }
}

/** Takes the tables of the store in a data folder to the version of this tool-hub; returns the versions before and after. */
export async function migrateFileStore(data: string | undefined, tables: FeatureTables): Promise<StoreVersion> {
  const version = await fileStoreVersion(data, tables)
  const path = storePlace({ data })
  closeDatabase(openDatabase(path, { tables: storeTables(tables.features), busyTimeoutMs: BUSY_MS }))
  return version
}

/** Opens a store to copy from: a data folder, or the file of a backup. */
export async function openCopySource(place: string, { features }: FeatureTables): Promise<CopyPlace> {
  const tables = storeTables(features)
  const path = resolve(place)
  const stats = statsIfThere(path)
  if (stats?.isFile()) return readingFile(path, tables)
  const file = join(path, 'store.db')
  if (!statsIfThere(file))
    throw new ToolError('NOT_FOUND', `No store in ${path}.`, {
      hint: 'Name a data folder with a store.db, the file of a backup, or a postgres:// URL.',
    })
  return sqlitePlace(file, openDatabase(file, { tables, busyTimeoutMs: BUSY_MS }))
}

/** Opens an empty store to copy to, in a data folder. */
export async function openCopyTarget(place: string, { features }: FeatureTables): Promise<CopyPlace> {
  const folder = resolve(place)
  if (statsIfThere(folder)?.isFile())
    throw new ToolError('CONFLICT', `${folder} is a file.`, { hint: 'Name a data folder or a postgres:// URL.' })
  const file = join(folder, 'store.db')
  const isNew = !statsIfThere(file)
  return sqlitePlace(file, openDatabase(file, { tables: storeTables(features), busyTimeoutMs: BUSY_MS }), { isNew })
}

/** Creates the file of a backup, for this user alone. */
export async function createCopyFile(path: string, { features }: FeatureTables): Promise<CopyPlace> {
  await createNew(path)
  const database = openDatabaseFile(path, { tables: storeTables(features), busyTimeoutMs: BUSY_MS })
  return sqlitePlace(path, database, { isNew: true, isSingleFile: true })
}

/** The file of a backup stays as it is, so it must have the current version. */
function readingFile(path: string, { sqlite: steps }: StoreTables): CopyPlace {
  assertOurs(statsIfThere(path)!, path)
  const database = openForReading(path, BUSY_MS)
  try {
    const version = versionOf(database, path, steps)
    if (version === steps.length) return sqlitePlace(path, database)
    throw new ToolError(
      'CONFIG_INVALID',
      `The store ${path} has version ${version}; a copy needs version ${steps.length}.`,
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
