import { lstat, readdir, readlink } from 'node:fs/promises'
import { errnoOf } from '../../lib/errno.ts'
import { hashOf } from '../../records/undo/undo-folder.ts'
import { type FoundEntry, treeDigest } from '../../sandbox/files/index.ts'

/** What is at a path in a tree that a run kept; only for rehearsals, which have not put the tree back. */
export async function lookKept(path: string, options: { readonly digest?: boolean } = {}): Promise<FoundEntry> {
  try {
    const stats = await lstat(path)
    const digest = options.digest ? { digest: await treeDigest(path) } : {}
    if (stats.isFile()) return { type: 'file', sha256: await hashOf(path), mode: stats.mode & 0o777, ...digest }
    if (stats.isSymbolicLink()) return { type: 'link', to: await readlink(path), ...digest }
    return stats.isDirectory() ? { type: 'folder', names: await readdir(path), ...digest } : { type: 'other' }
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return { type: 'absent' }
    throw error
  }
}
