import { closeSync } from 'node:fs'
import { errnoOf } from '../../../disk/errno.ts'
import { ToolError } from '../../../errors.ts'
import { readLink, statAt } from '../at-descriptor.ts'
import type { ChangeScope } from '../change/change-scope.ts'
import { modeOf, openCurrent, stateOf } from '../change/current-file.ts'
import { type Place, withPlace } from '../change/place.ts'
import { measureTree } from '../change/tree-digest.ts'
import { inNamed, namesIn, toByteName, toText } from '../change/tree-entries.ts'
import type { Target } from '../open-roots.ts'

/** What is at a path; a link is not followed. `digest` is there when it was asked for. */
export type Found =
  | { readonly type: 'absent' }
  | { readonly type: 'file'; readonly sha256: string; readonly mode: number; readonly digest?: string }
  | { readonly type: 'folder'; readonly names: readonly string[]; readonly digest?: string }
  | { readonly type: 'link'; readonly to: string; readonly digest?: string }
  | { readonly type: 'other' }

/** Looks at a target as a change would find it: by descriptors, whatever its name. */
export async function look(scope: ChangeScope, target: Target, withDigest: boolean): Promise<Found> {
  if (target.names.length === 0) return { type: 'other' }
  try {
    return await withPlace(scope, target, false, (place) => lookAt(scope, place, withDigest))
  } catch (error) {
    const isMissing = (ToolError.is(error) && error.code === 'NOT_FOUND') || errnoOf(error) === 'ENOENT'
    if (isMissing || errnoOf(error) === 'ENOTDIR') return { type: 'absent' }
    throw error
  }
}

async function lookAt(scope: ChangeScope, place: Place, withDigest: boolean): Promise<Found> {
  const stats = statAt(place.parent, place.name)
  if (!stats) return { type: 'absent' }
  if (!stats.isFile() && !stats.isDirectory() && !stats.isSymbolicLink()) return { type: 'other' }
  const { signal } = scope
  const digest = withDigest ? { digest: (await measureTree(place.parent, place.name, { signal })).digest } : {}
  if (stats.isFile()) return { ...(await lookAtFile(scope, place)), ...digest }
  const link = stats.isSymbolicLink() && readLink(place.parent, place.name)
  if (link) return { type: 'link', to: link.link, ...digest }
  const names = await inNamed(place.parent, toByteName(place.name), async (folder) => namesIn(folder).map(toText))
  return { type: 'folder', names, ...digest }
}

async function lookAtFile(scope: ChangeScope, place: Place): Promise<Found> {
  const current = openCurrent(scope, place)
  if (!current) return { type: 'absent' }
  try {
    const { sha256 } = await stateOf(current, scope.signal)
    return { type: 'file', sha256, mode: modeOf(current.stats) }
  } finally {
    closeSync(current.descriptor)
  }
}
