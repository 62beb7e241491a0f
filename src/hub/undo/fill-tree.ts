import { type RestoreFiles, treeDigest } from '../../sandbox/files/index.ts'
import { lookKept } from './look-kept.ts'

/** Puts back what is missing of a tree, from a copy that was kept; what is there is left alone. */
export async function fillTree(files: RestoreFiles, path: string, kept: string): Promise<void> {
  const now = await files.look(path)
  if (now.type === 'absent') {
    return files.putTree(path, { path: kept, digest: await treeDigest(kept), isPartOfTree: true })
  }
  const was = await lookKept(kept)
  if (now.type !== 'folder' || was.type !== 'folder') return
  for (const name of was.names) await fillTree(files, `${path}/${name}`, `${kept}/${name}`)
}
