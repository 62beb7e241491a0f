import { ToolError } from '../../core/errors.ts'
import type { SqliteDatabase } from './database.ts'

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

function versionOf(database: SqliteDatabase, path: string, steps: readonly string[]): number {
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
