import { chmodSync, closeSync, fstatSync, lchmodSync } from 'node:fs'
import { basename, dirname, relative } from 'node:path'
import { fileAccess } from '../files/access/choose-access.ts'
import { openFolder, statAt } from '../files/at-descriptor.ts'

/** A folder held open. Where there is /proc, no command can lead its path elsewhere. */
export interface HeldFolder {
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
 * run as; undefined if it belongs to somebody else. Only its owner can enter it afterwards who could not before.
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

/** A folder that nobody may read can be held by /proc only; elsewhere it has to be opened by its name first. */
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
