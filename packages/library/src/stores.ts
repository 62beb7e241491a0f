import { resolve } from 'node:path'
import {
  loadSharedCheck,
  migrateDatabase,
  openDatabaseStore,
  openPostgresPlace,
  type PostgresStoreOptions,
  postgresVersion,
} from '@tool-hub/cluster'
import type { DatabaseOptions, Store } from '@tool-hub/core'
import {
  type CopyPlace,
  type CopyReport,
  copyRows,
  createCopyFile,
  createInProcessStore,
  fileStoreVersion,
  type MemoryStoreOptions,
  migrateFileStore,
  type OpenStoreOptions,
  openCopySource,
  openCopyTarget,
  openFileStore,
  type StoreCopyOptions,
  type StoreOptions,
  type StoreVersion,
} from '@tool-hub/runtime/store'
import { featureStores as features } from './generated/stores/index.ts'

// Stores with the tables of all features.

/** The store of a data folder, in its file `store.db`: created and opened at its first use, shared by processes. */
export function openStore(folder: string, options: OpenStoreOptions = {}): Store {
  return openFileStore(folder, { ...options, features })
}

/**
 * A store in this process: it answers immediately, never with a promise, and ends with the process. What every call uses
 * is in maps; the rest is in a SQLite database in memory, which is opened at its first use.
 */
export function createMemoryStore(options: MemoryStoreOptions = {}): Store {
  return createInProcessStore({ ...options, features })
}

/**
 * A store in PostgreSQL, shared by the processes of many machines. It connects at its first use, creates its tables in a
 * new schema, and needs the package `pg`.
 * @param url For example `postgres://user:password@db.example/hub`.
 */
export function openPostgresStore(url: string, options: PostgresStoreOptions = {}): Store {
  return openDatabaseStore(url, { ...options, features })
}

/**
 * Opens the store that the options of a hub name: the PostgreSQL database of a config with `store:`, else the file of the
 * data folder. Close it after the hub.
 * @example
 * const { options } = await loadConfig()
 * const store = openStoreOf(options)
 * const hub = createToolHub({ ...options, store })
 */
export function openStoreOf({ data = '.tool-hub', database }: StoreOptions): Store {
  return database
    ? openDatabaseStore(database.url, { ...database, features })
    : openFileStore(resolve(data), { features })
}

/** The version of the store that the options of a hub name; nothing is changed. */
export function storeVersion({ data, database }: StoreOptions): Promise<StoreVersion> {
  return database ? postgresVersion(database.url, { ...database, features }) : fileStoreVersion(data, { features })
}

/**
 * Takes the tables of a store to the version of this tool-hub; returns the versions before and after. Throws CONFLICT
 * while other processes use older tables of a database, unless `force` is set.
 */
export function migrateStore(
  { data, database }: StoreOptions,
  { force = false }: { readonly force?: boolean } = {},
): Promise<StoreVersion> {
  return database
    ? migrateDatabase(database.url, { ...database, features, force })
    : migrateFileStore(data, { features })
}

/** The same for a PostgreSQL database. */
export function migratePostgres(
  url: string,
  options: PostgresStoreOptions & { readonly force?: boolean } = {},
): Promise<StoreVersion> {
  return migrateDatabase(url, { ...options, features })
}

/** Opens a store to copy from: a data folder, the file of a backup, or a database. */
export function openSource(place: string | DatabaseOptions): Promise<CopyPlace> {
  return typeof place === 'string'
    ? openCopySource(place, { features })
    : openPostgresPlace(place.url, { ...place, features })
}

/** Opens an empty store to copy to: a data folder or a database. */
export function openTarget(place: string | DatabaseOptions): Promise<CopyPlace> {
  return typeof place === 'string'
    ? openCopyTarget(place, { features })
    : openPostgresPlace(place.url, { ...place, features })
}

/** Creates the file of a backup, for this user alone. */
export function openNewFile(path: string): Promise<CopyPlace> {
  return createCopyFile(path, { features })
}

/** Copies all rows of a store to an empty one, and compares both afterwards. */
export function copyTables(source: CopyPlace, target: CopyPlace, options: StoreCopyOptions = {}): Promise<CopyReport> {
  return copyRows(source, target, { ...options, features })
}

/** Notes that a database has records from now on only: those of the runs that were copied to it are files of this machine. */
export async function noteFirstCopy(database: DatabaseOptions): Promise<void> {
  const { noteSharedSince } = await loadSharedCheck()
  const store = openStoreOf({ database })
  try {
    await noteSharedSince(store.documents, Date.now())
  } finally {
    await store.close()
  }
}
