import { open } from 'node:fs/promises'

/**
 * Makes the names in a folder survive a power loss; a new file's own fsync does not. Some file systems refuse to
 * sync a folder: they keep names by other means, and there is nothing else to do.
 */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r').catch(() => undefined)
  await folder?.sync().catch(() => {})
  await folder?.close()
}
