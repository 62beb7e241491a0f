import { randomBytes } from 'node:crypto'
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lchmodSync,
  lstatSync,
  renameSync,
  type Stats,
  symlinkSync,
} from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { messageOf } from '@tool-hub/core'
import { errnoOf } from '@tool-hub/core/lib'
import { fileAccess } from '../../files/access/choose-access.ts'
import { openFolder, statAt } from '../../files/walk.ts'
import { UNREACHABLE } from '../../system/index.ts'

/** An open folder. With /proc, no command can redirect its path. */
interface HeldFolder {
  readonly descriptor: number
  readonly path: string
  close(): void
}

/**
 * Opens a folder below one of the roots, name by name and without following links: commands run meanwhile, and could
 * replace any folder with a link. Returns undefined if it no longer exists or was replaced with a link.
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
 * Runs work in a folder whose mode keeps this user out, if it belongs to this user or, for root, to the user that commands
 * run as; returns undefined if it belongs to another user. Afterwards, nobody but its owner gains access.
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

/** An unreadable folder can be opened through /proc only; elsewhere it is made readable by its name first. */
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
    // It is a file now, or a folder that cannot be entered.
    return undefined
  }
}

/** What was done about something that a command created at a protected place. */
export interface SetAside {
  readonly path: string
  /** Its new name; absent if it could not be renamed. */
  readonly movedTo?: string
  readonly problem?: string
  /** Why it may not stay, if it is not its name alone: completes a sentence that begins with its path. */
  readonly reason?: string
}

/** The system refuses absolute paths of 4,096 bytes, but git uses shorter relative ones, and reaches what is below. */
const MAX_PATH_BYTES = 3500

/** Whether what is in a folder with this path may be out of reach. */
export function isTooDeep(path: string): boolean {
  return Buffer.byteLength(path) > MAX_PATH_BYTES
}

/**
 * Renames what a command created, so that no program reads it by its name, and restores the `link` that was there before.
 * What is too deep is moved to the root. `bytes` is its path as Latin-1 if it is not valid UTF-8. Returns undefined if it no longer exists.
 */
export function setAside(
  roots: readonly string[],
  path: string,
  { link, bytes = Buffer.from(path).toString('latin1') }: { readonly link?: string; readonly bytes?: string } = {},
): SetAside | undefined {
  const name = `${shortened(basename(path))}.set-aside-${randomBytes(4).toString('hex')}`
  const top = isTooDeep(path) ? roots.find((root) => path.startsWith(`${root}/`)) : undefined
  const movedTo = join(top ?? dirname(path), name)
  const rename = (folder: string): SetAside => {
    const from = Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(basename(bytes), 'latin1')])
    renameSync(from, `${top ?? folder}/${name}`)
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

/** The stats of what is at a path that commands can reach, without following a link. Synchronous: a command waits for it, and a thousand folders take 2 ms this way, ten times as much otherwise. */
export function statsAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    if (UNREACHABLE.has(errnoOf(error)) || (errnoOf(error) === 'EACCES' && isClosedByAnother(path))) return undefined
    throw error
  }
}

/**
 * Whether the folder on the way that cannot be entered belongs to another user, so that commands cannot enter it either.
 * One of this user was closed by a command a moment ago, which can open it again: that nothing is there is not known.
 */
function isClosedByAnother(path: string): boolean {
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
    try {
      return !isUs(lstatSync(folder).uid) && !isEnterable(folder)
    } catch (error) {
      if (errnoOf(error) !== 'EACCES') return false
    }
  }
  return false
}

/** Whether a user is the one that the hub runs as. */
export function isUs(uid: number): boolean {
  return uid === process.geteuid?.()
}

/** Whether this user can reach what is in a folder. */
export function isEnterable(folder: string): boolean {
  try {
    accessSync(folder, constants.X_OK)
    return true
  } catch (error) {
    return errnoOf(error) !== 'EACCES'
  }
}
