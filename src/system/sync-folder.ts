import { closeSync, fsyncSync, openSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { errnoOf } from '../lib/index.ts'

/**
 * What systems say that cannot sync a folder, or that let us write to it but not read it: they keep names by other
 * means, and the change itself is done.
 */
const CANNOT_SYNC = new Set(['EINVAL', 'ENOTSUP', 'EISDIR', 'EACCES', 'EPERM'])

/** Makes the names in a folder survive a loss of power; a new file's own fsync does not. */
export async function syncFolder(path: string): Promise<void> {
  try {
    const folder = await open(path, 'r')
    await folder.sync().finally(() => folder.close())
  } catch (error) {
    if (!CANNOT_SYNC.has(errnoOf(error))) throw error
  }
}

/** The same for work that must not be interrupted. */
export function syncFolderSync(path: string): void {
  try {
    const descriptor = openSync(path, 'r')
    try {
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
  } catch (error) {
    if (!CANNOT_SYNC.has(errnoOf(error))) throw error
  }
}
