import { closeSync, constants, mkdirSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { ToolError } from '../../errors.ts'
import { atDescriptor, hasCode, type Link, openFolder } from './at-descriptor.ts'
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

/** Makes the entries of a folder survive a loss of power. */
export async function syncFolder(descriptor: number): Promise<void> {
  try {
    const folder = await open(atDescriptor(descriptor, '.'), constants.O_RDONLY | constants.O_DIRECTORY)
    try {
      await folder.sync()
    } finally {
      await folder.close()
    }
  } catch (error) {
    // Some file systems cannot sync a folder, and a folder may be writable but not readable: the change itself is done.
    if (!hasCode(error, 'EINVAL') && !hasCode(error, 'EACCES')) throw error
  }
}

async function openOrMake(above: number, name: string, mkdirp: boolean): Promise<number | Link | undefined> {
  const present = openFolder(above, name)
  if (present !== undefined || !mkdirp) return present
  try {
    mkdirSync(atDescriptor(above, name))
  } catch (error) {
    // Somebody else made it at the same time; what it is shows when it is opened.
    if (!hasCode(error, 'EEXIST')) throw error
  }
  await syncFolder(above)
  return openFolder(above, name)
}

function accept(roots: Roots, target: Target, index: number, folder: number | Link | undefined): number {
  if (typeof folder === 'number') return folder
  if (folder) return refuseLink(roots, destination(target, index, folder), target)
  throw new ToolError('NOT_FOUND', `The folder above ${quotePath(target.path)} does not exist.`, {
    fix: { key: 'mkdirp', value: true, hint: 'Make the folder first, or write with mkdirp.' },
  })
}
