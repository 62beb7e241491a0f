import { randomBytes } from 'node:crypto'
import { renameSync, symlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { errnoOf } from '../../disk/errno.ts'
import { messageOf } from '../../errors.ts'
import { fileAccess } from '../files/access/choose-access.ts'
import { holdFolder, withOpened } from './open-below.ts'

/** What was done about something that a command has put at a protected place. */
export interface SetAside {
  readonly path: string
  /** Its new name; absent if it could not be renamed. */
  readonly movedTo?: string
  readonly problem?: string
}

/**
 * Renames what a command made, so that nobody reads it by its name, and puts back the `link` that was there before.
 * Undefined if it has gone meanwhile.
 */
export function setAside(roots: readonly string[], path: string, link?: string): SetAside | undefined {
  const movedTo = join(dirname(path), `${shortened(basename(path))}.set-aside-${randomBytes(4).toString('hex')}`)
  const rename = (folder: string): SetAside => {
    renameSync(`${folder}/${basename(path)}`, `${folder}/${basename(movedTo)}`)
    if (link !== undefined) symlinkSync(link, `${folder}/${basename(path)}`)
    return { path, movedTo }
  }
  try {
    const held = holdFolder(roots, dirname(path))
    try {
      return held && fileAccess.change(held.descriptor, () => rename(held.path))
    } catch (error) {
      if (errnoOf(error) !== 'EACCES') throw error
      // The command has closed the folder behind it.
      const done = withOpened(roots, dirname(path), rename)
      return done ?? { path, problem: 'its folder belongs to another user' }
    } finally {
      held?.close()
    }
  } catch (error) {
    return errnoOf(error) === 'ENOENT' ? undefined : { path, problem: messageOf(error) }
  }
}

/** A name has at most 255 bytes, and a character at most 4. */
function shortened(name: string): string {
  return Buffer.byteLength(name) > 200 ? [...name].slice(0, 50).join('') : name
}
