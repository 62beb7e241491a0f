import { randomBytes } from 'node:crypto'
import { chmodSync, closeSync, fstatSync, lchmodSync, renameSync, symlinkSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { messageOf } from '../../core/index.ts'
import { errnoOf } from '../../lib/index.ts'
import { fileAccess } from '../files/access/choose-access.ts'
import { openFolder, statAt } from '../files/walk.ts'

/** A folder held open. Where there is /proc, no command can lead its path elsewhere. */
interface HeldFolder {
  readonly descriptor: number
  readonly path: string
  close(): void
}

/**
 * Holds a folder below one of the roots, opened name by name without following links: commands run meanwhile, and could
 * put a link in the place of any folder. Undefined if it is not there any more or if a link has taken its place.
 */
export function holdFolder(roots: readonly string[], folder: string): HeldFolder | undefined {
  const root = roots.find((candidate) => folder === candidate || folder.startsWith(`${candidate}/`))
  if (root === undefined) return undefined
  let descriptor = fileAccess.openBase(root)
  for (const name of relative(root, folder).split('/').filter(Boolean)) {
    const next = openNext(descriptor, name)
    closeSync(descriptor)
    if (next === undefined) return undefined
    descriptor = next
  }
  return { descriptor, path: fileAccess.path(descriptor), close: () => closeSync(descriptor) }
}

/**
 * Does something with a folder that its owner has closed, who is this user or, where this is root, the user that commands
 * run as; undefined if it belongs to another user. Only its owner can enter it afterwards who could not before.
 */
export function withOpened<T>(roots: readonly string[], folder: string, work: (path: string) => T): T | undefined {
  if (fileAccess.level === 'paths' && !roots.includes(folder)) openClosed(roots, folder)
  const held = holdFolder(roots, folder)
  if (!held) return undefined
  const { descriptor, path } = held
  try {
    const { uid, mode } = fstatSync(descriptor)
    const us = process.geteuid?.()
    if (uid !== us && us !== 0) return undefined
    return fileAccess.change(descriptor, () => {
      chmodSync(path, (mode & 0o7777) | 0o700)
      return work(path)
    })
  } finally {
    held.close()
  }
}

/** An unreadable folder can be held by /proc only; elsewhere it has to be opened by its name first. */
function openClosed(roots: readonly string[], folder: string): void {
  const above = holdFolder(roots, dirname(folder))
  if (!above) return
  try {
    const stats = statAt(above.descriptor, basename(folder))
    const us = process.geteuid?.()
    if (!stats?.isDirectory() || (stats.uid !== us && us !== 0)) return
    const path = fileAccess.at(above.descriptor, basename(folder))
    const open = process.platform === 'darwin' ? lchmodSync : chmodSync
    fileAccess.change(above.descriptor, () => open(path, (stats.mode & 0o7777) | 0o700))
  } finally {
    above.close()
  }
}

function openNext(descriptor: number, name: string): number | undefined {
  try {
    const opened = openFolder(descriptor, name)
    return typeof opened === 'number' ? opened : undefined
  } catch {
    // A file now, or a folder that cannot be entered: nothing can be done through it.
    return undefined
  }
}

/** What was done about something that a command has put at a protected place. */
export interface SetAside {
  readonly path: string
  /** Its new name; absent if it could not be renamed. */
  readonly movedTo?: string
  readonly problem?: string
}

/**
 * Renames what a command made, so that no program reads it by its name, and puts back the `link` that was there before.
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
