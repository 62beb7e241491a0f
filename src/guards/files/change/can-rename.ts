import { mkdirSync, renameSync, rmdirSync } from 'node:fs'
import { errnoOf } from '../../../disk/errno.ts'
import type { ChangeScope } from './change-scope.ts'
import { Draft } from './draft.ts'
import type { Place } from './place.ts'

/**
 * Whether something beside a place can be renamed to a free path: not to another file system, nor to another mount of
 * the same one, which no number tells. So an empty folder goes first.
 */
export function canRename(scope: ChangeScope, place: Place, path: string): boolean {
  const probe = new Draft(scope, place)
  try {
    mkdirSync(probe.path, 0o700)
    return isRenamed(probe.path, path)
  } finally {
    probe.end()
  }
}

function isRenamed(probe: string, path: string): boolean {
  try {
    renameSync(probe, path)
    rmdirSync(path)
    return true
  } catch (error) {
    rmdirSync(probe)
    if (errnoOf(error) === 'EXDEV') return false
    throw error
  }
}
