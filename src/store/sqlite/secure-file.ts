import * as fs from 'node:fs'
import { dirname } from 'node:path'
import { prepareDataFolder } from '../../disk/data-folder.ts'
import { errnoOf } from '../../disk/errno.ts'
import { assertOurs } from '../../disk/owned-by-us.ts'
import { ToolError } from '../../errors.ts'

const OTHERS = 0o077

/**
 * Makes the folder and the file of a store, for this user alone; refuses what another user could have written. One that
 * exists is never opened here: to close any descriptor of a file drops the locks that SQLite holds on it elsewhere in
 * this process. Sync, as all that SQLite does here.
 */
export function secureFile(path: string): void {
  prepareDataFolder(dirname(path))
  if (createFile(path)) return
  const stats = fs.lstatSync(path)
  if (!stats.isFile()) {
    throw new ToolError('CONFIG_INVALID', `${path} is not a regular file.`, {
      hint: `Look who made it; then rm ${path}.`,
    })
  }
  assertOurs(stats, path)
  if ((stats.mode & OTHERS) !== 0) fs.chmodSync(path, 0o600)
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
