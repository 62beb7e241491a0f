import { join } from 'node:path'
import { ToolError } from '../../core/errors.ts'
import { errnoOf } from '../../lib/errno.ts'
import { listRuns } from '../../records/log/list-runs.ts'
import { readChangeHistory } from '../../records/undo/read-history.ts'
import { treeDigest } from '../../sandbox/files/index.ts'

/**
 * Where a kept tree lies. A tree is kept by moving it, so after an undo, and the undo of that, it is where the last
 * removal put it; its digest stays the same.
 */
export async function findTree(
  root: string,
  run: string,
  { tree, digest }: { readonly tree: string; readonly digest: string },
): Promise<string> {
  const own = join(root, run, 'undo', tree)
  if (await isKept(own, digest)) return own
  for (const { id } of (await listRuns(root)).toReversed()) {
    const { changes } = await readChangeHistory(join(root, id))
    for (const { change } of changes.toReversed()) {
      if (change.op !== 'remove-tree' || change.digest !== digest || change.tree === undefined) continue
      const path = join(root, id, 'undo', change.tree)
      if (await isKept(path, digest)) return path
    }
  }
  return own
}

/** False when it is gone, which a later undo explains; one that was changed is not put back. */
async function isKept(path: string, digest: string): Promise<boolean> {
  const present = await digestOf(path)
  if (present === undefined || present === digest) return present !== undefined
  throw new ToolError('CONFLICT', 'The folder that was kept was changed since.')
}

async function digestOf(path: string): Promise<string | undefined> {
  try {
    return await treeDigest(path)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw error
  }
}
