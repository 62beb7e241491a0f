import { closeSync, constants, fstatSync, type Stats } from 'node:fs'
import { errnoOf } from '../../../disk/errno.ts'
import { ToolError } from '../../../errors.ts'
import { type Link, openAt } from '../at-descriptor.ts'
import type { FilesCall, FilesDoor } from '../files-door.ts'
import type { Target } from '../open-roots.ts'
import { quotePath } from '../quote-path.ts'
import { followLinks, inParent, lastLink } from '../walk.ts'

// Without O_NONBLOCK a pipe with no writer would hang the process.
const READ = constants.O_RDONLY | constants.O_NONBLOCK

/** A regular file that is open for reading and that the call may read; who gets one closes its descriptor. */
export interface OpenFile {
  readonly descriptor: number
  readonly target: Target
  /** Bytes when it was opened; nothing beyond them is read, however the file grows meanwhile. */
  readonly size: number
}

/** Opens a regular file for a call; the door judges the target that was really opened, before anything is read. */
export function openFile(door: FilesDoor, call: FilesCall, path: string): OpenFile {
  const { descriptor, target } = followLinks(door.roots, path, open)
  try {
    door.pass(target, 'read', call)
    const stats = fstatSync(descriptor)
    refuseOthers(stats, target)
    return { descriptor, target, size: stats.size }
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

function open(target: Target): { descriptor: number; target: Target } | Link {
  const opened = inParent(target, (parent, name) => {
    try {
      return { descriptor: openAt(parent, name, READ), target }
    } catch (error) {
      const link = errnoOf(error) === 'ELOOP' ? lastLink(target, parent, name) : undefined
      if (link) return link
      throw error
    }
  })
  if (opened) return opened
  throw new ToolError('NOT_FOUND', `${quotePath(target.path)} does not exist.`)
}

function refuseOthers(stats: Stats, { path, saysFolder }: Target): void {
  if (stats.isFile() && !saysFolder) return
  const shown = quotePath(path)
  if (stats.isDirectory()) {
    throw new ToolError('INPUT_SCHEMA_INVALID', `${shown} is a folder, not a file.`, {
      hint: 'List the folder instead of reading it, then read one of its files.',
    })
  }
  if (!stats.isFile()) throw new ToolError('PATH_DENIED', `${shown} is a pipe or a device, not a regular file.`)
  throw new ToolError('INPUT_SCHEMA_INVALID', `${shown} is a file, but the path is spelled like a folder.`, {
    hint: 'Leave out the slash at the end.',
  })
}
