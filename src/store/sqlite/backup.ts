import { rm, writeFile } from 'node:fs/promises'
import { errnoOf } from '../../disk/errno.ts'
import { ToolError } from '../../errors.ts'
import type { Connection } from './connection.ts'
import { loadSqlite } from './load-sqlite.ts'
import { openForReading } from './open-database.ts'
import { toStoreError } from './store-error.ts'

/** In one step: after a step, a write of another process would make it begin anew. */
const ALL_PAGES = 0x7fffffff

/**
 * Copies the whole file as it is at one moment, in another thread and through a connection of its own: neither this
 * process nor others wait for it.
 */
export async function backUp(connection: Connection, path: string): Promise<void> {
  connection.open()
  await createNew(path)
  const source = openForReading(connection.path, connection.options.busyTimeoutMs)
  try {
    const { backup } = loadSqlite()
    if (backup) await backup(source, path, { rate: ALL_PAGES })
    else source.exec(`VACUUM INTO '${path.replaceAll("'", "''")}'`)
  } catch (error) {
    await rm(path, { force: true })
    throw toStoreError(error, connection.path)
  } finally {
    source.close()
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
