import { ToolError } from '../../../errors.ts'
import { fileAccess } from '../access/choose-access.ts'
import { statAt } from '../at-descriptor.ts'
import type { Target } from '../open-roots.ts'
import { quotePath } from '../quote-path.ts'
import { lastLink, refuseLink } from '../walk.ts'
import type { ChangeScope } from './change-scope.ts'
import { takeFolderOwnerAt } from './keep-owner.ts'
import { entryOf, type Place, syncPlace, withPlace } from './place.ts'

/** Makes a folder, unless it is there. */
export async function makeFolder(
  scope: ChangeScope,
  target: Target,
  mkdirp: boolean,
): Promise<{ path: string; created: boolean }> {
  scope.door.pass(target, 'write', scope.call)
  if (target.names.length === 0) return { path: target.path, created: false }
  const created = await withPlace(scope, target, mkdirp, async (place) => {
    if (isFolder(scope, place)) return false
    await scope.intend({ op: 'make-folder', path: target.path })
    scope.throwIfAborted()
    fileAccess.makeFolder(entryOf(place))
    takeFolderOwnerAt(place.parent, place.name)
    await syncPlace(place)
    return true
  })
  return { path: target.path, created }
}

function isFolder({ door }: ChangeScope, { target, parent, name }: Place): boolean {
  const stats = statAt(parent, name)
  if (!stats || stats.isDirectory()) return stats !== undefined
  const link = stats.isSymbolicLink() ? lastLink(target, parent, name) : undefined
  if (link) refuseLink(door.roots, link, target)
  throw new ToolError('CONFLICT', `${quotePath(target.path)} exists already and is not a folder.`, {
    hint: 'Choose another name.',
  })
}
