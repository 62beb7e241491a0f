import type { Stats } from 'node:fs'
import type { FileFacts } from '../../../contracts/handles.ts'
import { ToolError } from '../../../errors.ts'
import { type Link, statAt } from '../at-descriptor.ts'
import type { FilesCall, FilesDoor } from '../files-door.ts'
import type { Target } from '../open-roots.ts'
import { quotePath } from '../quote-path.ts'
import { followLinks, inParent, lastLink } from '../walk.ts'
import { isoTime } from './iso-time.ts'

/** What the file system says about an entry; links are followed as far as they stay inside, as when reading. */
export async function statEntry(door: FilesDoor, call: FilesCall, path: string): Promise<FileFacts> {
  const { target, stats } = followLinks(door.roots, path, look)
  door.pass(target, 'read', call)
  const type = typeOf(stats)
  if (target.saysFolder && type !== 'directory') {
    throw new ToolError('INPUT_SCHEMA_INVALID', `${quotePath(path)} is spelled like a folder, but is none.`, {
      hint: 'Leave out the slash at the end.',
    })
  }
  const { size, mtimeMs, mode } = stats
  return { path: target.path, type, bytes: size, modified: isoTime(mtimeMs), mode: mode & 0o7777 }
}

/** The kind of an entry in the words of the handle. */
export function typeOf(stats: Stats): FileFacts['type'] {
  if (stats.isFile()) return 'file'
  if (stats.isDirectory()) return 'directory'
  return stats.isSymbolicLink() ? 'symlink' : 'other'
}

function look(target: Target): { target: Target; stats: Stats } | Link {
  const found = inParent(target, (parent, name) => {
    const stats = statAt(parent, name)
    const link = stats?.isSymbolicLink() ? lastLink(target, parent, name) : undefined
    return link ?? (stats && { target, stats })
  })
  if (found) return found
  throw new ToolError('NOT_FOUND', `${quotePath(target.path)} does not exist.`)
}
