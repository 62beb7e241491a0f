import { chmodSync, closeSync, constants, fstatSync, openSync } from 'node:fs'
import { relative } from 'node:path'
import { O_PATH, openFolder } from '../files/at-descriptor.ts'

/** A folder held open, by a path that no command can lead elsewhere. */
export interface HeldFolder {
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
  let descriptor = openSync(root, O_PATH | constants.O_DIRECTORY)
  for (const name of relative(root, folder).split('/').filter(Boolean)) {
    const next = openNext(descriptor, name)
    closeSync(descriptor)
    if (next === undefined) return undefined
    descriptor = next
  }
  return { path: `/proc/self/fd/${descriptor}`, close: () => closeSync(descriptor) }
}

/**
 * Does something with a folder that its owner has closed, who is this user or, where this is root, the user that commands
 * run as; undefined if it belongs to somebody else. Only its owner can enter it afterwards who could not before.
 */
export function withOpened<T>(roots: readonly string[], folder: string, work: (path: string) => T): T | undefined {
  const held = holdFolder(roots, folder)
  if (!held) return undefined
  try {
    const descriptor = Number(held.path.slice(held.path.lastIndexOf('/') + 1))
    const { uid, mode } = fstatSync(descriptor)
    const us = process.geteuid?.()
    if (uid !== us && us !== 0) return undefined
    chmodSync(held.path, (mode & 0o7777) | 0o700)
    return work(held.path)
  } finally {
    held.close()
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
