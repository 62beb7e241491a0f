import { type BigIntStats, closeSync } from 'node:fs'
import type { RemoveResult } from '../../../contracts/handles.ts'
import { errnoOf } from '../../../disk/errno.ts'
import { ToolError } from '../../../errors.ts'
import { sha256 } from '../../../value/hash.ts'
import { fileAccess } from '../access/choose-access.ts'
import { exactStatAt, readLink } from '../at-descriptor.ts'
import type { Target } from '../open-roots.ts'
import { quotePath } from '../quote-path.ts'
import type { ChangeScope } from './change-scope.ts'
import { modeOf } from './current-file.ts'
import { FileRemoval } from './file-removal.ts'
import { checkMayRemove } from './leave-to-replace.ts'
import { entryOf, type Place, syncPlace, withPlace } from './place.ts'
import { refuseRoot } from './refuse-target.ts'
import { removeFullFolder } from './remove-full-folder.ts'
import { takeAway } from './take-away.ts'
import { namesIn, openNamed, toByteName } from './tree-entries.ts'

/** Removes a file, a link (never what it leads to) or a folder; one that is not empty only when told to. */
export async function removePath(scope: ChangeScope, target: Target, recursive: boolean): Promise<RemoveResult> {
  refuseRoot(target)
  checkMayRemove(scope, target)
  return withPlace(scope, target, false, async (place) => {
    const stats = exactStatAt(place.parent, place.name)
    if (!stats || (target.saysFolder && !stats.isDirectory())) {
      throw new ToolError('NOT_FOUND', `${quotePath(target.path)} does not exist.`)
    }
    const removed = await removeEntry(scope, place, stats, recursive)
    await syncPlace(place)
    return { path: target.path, ...removed }
  })
}

type Removed = Omit<RemoveResult, 'path'>

function removeEntry(scope: ChangeScope, place: Place, stats: BigIntStats, recursive: boolean): Promise<Removed> {
  if (stats.isFile()) return removeFile(scope, place)
  if (!stats.isDirectory()) return removeOther(scope, place, stats)
  if (isEmpty(place)) return removeEmptyFolder(scope, place, stats)
  if (recursive) return removeFullFolder(scope, place)
  throw notEmpty(place)
}

async function removeFile(scope: ChangeScope, place: Place): Promise<Removed> {
  const removal = await FileRemoval.prepare(scope, place)
  try {
    await removal.keep()
    scope.throwIfAborted()
    removal.apply()
  } finally {
    await removal.close()
  }
  return { type: 'file', files: 1, bytes: removal.bytes }
}

/** Links, pipes and sockets have no content of their own that could be kept. */
async function removeOther(scope: ChangeScope, place: Place, stats: BigIntStats): Promise<Removed> {
  const link = stats.isSymbolicLink() ? readLink(place.parent, place.name)?.link : undefined
  const before = { sha256: sha256(link ?? ''), bytes: Number(stats.size), mode: modeOf(stats) }
  const notUndoable = link === undefined ? 'it is no regular file' : `it is a link, to ${quotePath(link)}`
  await scope.intend({ op: 'remove', path: place.target.path, before }, { notUndoable })
  scope.throwIfAborted()
  takeAway(scope, place, stats).remove()
  return { type: link === undefined ? 'other' : 'symlink', files: 1, bytes: 0 }
}

async function removeEmptyFolder(scope: ChangeScope, place: Place, stats: BigIntStats): Promise<Removed> {
  await scope.intend({ op: 'remove-folder', path: place.target.path, mode: modeOf(stats) })
  scope.throwIfAborted()
  try {
    fileAccess.removeFolder(entryOf(place))
  } catch (error) {
    throw errnoOf(error) === 'ENOTEMPTY' ? notEmpty(place) : error
  }
  return { type: 'directory', files: 0, bytes: 0 }
}

function isEmpty({ parent, name }: Place): boolean {
  const folder = openNamed(parent, toByteName(name))
  try {
    return namesIn(folder).length === 0
  } finally {
    closeSync(folder)
  }
}

function notEmpty({ target }: Place): ToolError {
  return new ToolError('CONFLICT', `${quotePath(target.path)} is a folder that is not empty.`, {
    fix: { key: 'recursive', value: true, hint: 'Look what is in it; remove it with recursive when all of it may go.' },
  })
}
