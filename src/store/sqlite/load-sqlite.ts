import { createRequire } from 'node:module'
import { messageOf, ToolError } from '../../errors.ts'

/** What a column holds. */
export type SqlValue = string | number | Uint8Array | null

/** A prepared statement, as far as it is used here. */
export interface SqliteStatement {
  run(...values: SqlValue[]): { readonly changes: number | bigint }
  get(...values: SqlValue[]): unknown
  all(...values: SqlValue[]): unknown[]
}

/** An open database file, as far as it is used here. */
export interface SqliteDatabase {
  exec(sql: string): void
  prepare(sql: string): SqliteStatement
  close(): void
  /** Forbids what could break the file; older ones of Node have none. */
  enableDefensive?(active: boolean): void
}

/** What `@photostructure/sqlite` and `node:sqlite` share. */
export interface SqliteModule {
  readonly DatabaseSync: new (
    path: string,
    options: { readonly timeout: number; readonly readOnly?: boolean; readonly enableForeignKeyConstraints?: boolean },
  ) => SqliteDatabase
  /** Copies in another thread; older ones of Node have none. */
  readonly backup?: (source: SqliteDatabase, path: string, options: { readonly rate: number }) => Promise<number>
}

let loaded: SqliteModule | undefined

/** Loads SQLite at its first use, so that a hub without a store file never does. */
export function loadSqlite(): SqliteModule {
  loaded ??= findSqlite(createRequire(import.meta.url))
  return loaded
}

/** The package, else what Node itself has. */
export function findSqlite(load: (name: string) => unknown): SqliteModule {
  const causes: unknown[] = []
  for (const name of ['@photostructure/sqlite', 'node:sqlite']) {
    try {
      return load(name) as SqliteModule
    } catch (cause) {
      causes.push(cause)
    }
  }
  const [why] = messageOf(causes[0]).split('\n', 1)
  throw new ToolError('CONFIG_INVALID', `SQLite cannot be loaded: ${why}`, {
    hint: 'Install the packages again on this very system, or use Node 22.13 or newer, which has SQLite.',
    cause: new AggregateError(causes),
  })
}
