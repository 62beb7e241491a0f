import { closeSync, mkdirSync } from 'node:fs'
import { errnoOf } from '../../disk/errno.ts'
import { syncFolder } from '../../disk/sync-folder.ts'
import { ToolError } from '../../errors.ts'
import { atDescriptor, type Link, openFolder } from './at-descriptor.ts'
import type { Roots, Target } from './open-roots.ts'
import { quotePath } from './quote-path.ts'
import { destination, refuseLink } from './walk.ts'

/**
 * Opens the folder above a target for a change, making the missing folders on the way. The caller closes the
 * descriptor; it is never the root's own, which a closing guard could hand to somebody else meanwhile.
 */
export async function makeParent(roots: Roots, target: Target, mkdirp: boolean): Promise<number> {
  let descriptor = accept(roots, target, -1, openFolder(target.root.descriptor, '.'))
  try {
    for (let index = 0; index < target.names.length - 1; index += 1) {
      const above = descriptor
      descriptor = accept(roots, target, index, await openOrMake(above, target.names[index]!, mkdirp))
      closeSync(above)
    }
    return descriptor
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

async function openOrMake(above: number, name: string, mkdirp: boolean): Promise<number | Link | undefined> {
  const present = openFolder(above, name)
  if (present !== undefined || !mkdirp) return present
  try {
    mkdirSync(atDescriptor(above, name))
  } catch (error) {
    // Somebody else made it at the same time; what it is shows when it is opened.
    if (errnoOf(error) !== 'EEXIST') throw error
  }
  await syncFolder(atDescriptor(above, '.'))
  return openFolder(above, name)
}

function accept(roots: Roots, target: Target, index: number, folder: number | Link | undefined): number {
  if (typeof folder === 'number') return folder
  if (folder) return refuseLink(roots, destination(target, index, folder), target)
  throw new ToolError('NOT_FOUND', `The folder above ${quotePath(target.path)} does not exist.`, {
    fix: { key: 'mkdirp', value: true, hint: 'Make the folder first, or write with mkdirp.' },
  })
}
