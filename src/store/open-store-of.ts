import { resolve } from 'node:path'
import type { HubOptions, Store } from '../core/index.ts'
import { openPostgresStore } from './postgres.ts'
import { openStore } from './sqlite.ts'

/** The options of a hub that say where its store is. */
export type StoreOptions = Pick<HubOptions, 'data' | 'database'>

/**
 * Opens the store that the options of a hub name: the PostgreSQL database of a config with `store:`, else the file of the
 * data folder. Close it after the hub.
 * @example
 * const { options } = await loadConfig()
 * const store = openStoreOf(options)
 * const hub = createToolHub({ ...options, store })
 */
export function openStoreOf({ data = '.tool-hub', database }: StoreOptions): Store {
  return database ? openPostgresStore(database.url, database) : openStore(resolve(data))
}

/** Where the store is, for messages: never with a password. */
export function storePlace({ data = '.tool-hub', database }: StoreOptions): string {
  if (!database) return resolve(data, 'store.db')
  const { hostname, port, pathname, searchParams } = new URL(database.url)
  const host = decodeURIComponent(hostname) || searchParams.get('host') || 'localhost'
  return `${host}:${port || 5432}${pathname} (schema ${database.schema ?? 'tool_hub'})`
}
