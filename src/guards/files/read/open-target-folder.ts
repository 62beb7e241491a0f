import { closeSync } from 'node:fs'
import { errnoOf } from '../../../disk/errno.ts'
import { ToolError } from '../../../errors.ts'
import { type Link, openFolder } from '../at-descriptor.ts'
import type { FilesCall, FilesDoor } from '../files-door.ts'
import type { Target } from '../open-roots.ts'
import { quotePath } from '../quote-path.ts'
import { destination, followLinks, inParent } from '../walk.ts'

/** A folder that is held open and that the call may read; who gets one closes its descriptor. */
export interface TargetFolder {
  readonly descriptor: number
  readonly target: Target
}

/** Opens a folder for a call, over links that stay inside; the door judges the target that was really opened. */
export function openTargetFolder(door: FilesDoor, call: FilesCall, path: string): TargetFolder {
  const opened = followLinks(door.roots, path, open)
  try {
    door.pass(opened.target, 'read', call)
    return opened
  } catch (error) {
    closeSync(opened.descriptor)
    throw error
  }
}

function open(target: Target): TargetFolder | Link {
  const opened = inParent(target, (parent, name) => {
    const folder = openLast(parent, name, target)
    if (typeof folder === 'number') return { descriptor: folder, target }
    return folder && destination(target, target.names.length - 1, folder)
  })
  if (opened) return opened
  throw new ToolError('NOT_FOUND', `${quotePath(target.path)} does not exist.`)
}

function openLast(parent: number, name: string, { path }: Target): number | Link | undefined {
  try {
    return openFolder(parent, name)
  } catch (error) {
    if (errnoOf(error) !== 'ENOTDIR') throw error
    throw new ToolError('INPUT_SCHEMA_INVALID', `${quotePath(path)} is a file, not a folder.`, {
      hint: 'Read the file, or list the folder that it is in.',
    })
  }
}
