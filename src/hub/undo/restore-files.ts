import { join } from 'node:path'
import type { ReadFiles, WriteFiles } from '../../core/handles.ts'
import { readKept } from '../../records/undo/read-kept.ts'
import type { RestoreFiles } from '../../sandbox/files/index.ts'
import { compareTree } from './compare-tree.ts'
import { fillTree } from './fill-tree.ts'
import { findTree } from './find-tree.ts'
import type { Step } from './judge-change.ts'
import { lookKept } from './look-kept.ts'
import type { Restorer } from './restorer.ts'

/** The files handle of the owner's own calls. */
export type OwnerFiles = ReadFiles & WriteFiles & RestoreFiles

/** Takes changes back through the files guard, with what a run, or the undo of one, has kept. */
export function restoreFiles(files: OwnerFiles, root: string, run: string): Restorer {
  return {
    look: (path, options) => files.look(path, options),
    async compare({ path, ...removed }) {
      const kept = await findTree(root, run, removed)
      return compareTree({ path, look: files.look }, { path: kept, look: lookKept })
    },
    apply: (step, { isForced }) => apply(files, { root, run }, step, isForced),
  }
}

interface Kept {
  readonly root: string
  readonly run: string
}

async function apply(files: OwnerFiles, { root, run }: Kept, step: Step, isForced: boolean): Promise<void> {
  switch (step.do) {
    case 'put-file': {
      const { state, replaces } = step
      const overwrite = isForced || replaces !== undefined
      const options = { overwrite, replaces, mode: state.mode, maxBytes: state.bytes }
      await files.writeBytes(step.path, readKept(join(root, run), state), options)
      return
    }
    case 'put-folder':
      return files.putFolder(step.path, step.mode)
    case 'put-tree':
      return files.putTree(step.path, { path: await findTree(root, run, step), digest: step.digest })
    case 'fill-tree':
      return fillTree(files, step.path, await findTree(root, run, step))
    case 'remove-file':
      if (step.replaces === undefined) await files.remove(step.path)
      else await files.changeAll([{ type: 'remove', path: step.path, replaces: step.replaces }])
      return
    case 'remove-folder':
      await files.remove(step.path, { recursive: step.isRecursive })
      return
    case 'move':
      await files.move(step.path, step.to)
  }
}
