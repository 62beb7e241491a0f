import type { BigIntStats } from 'node:fs'
import { fileAccess } from '../access/choose-access.ts'
import type { ChangeScope } from './change-scope.ts'
import { changed } from './current-file.ts'
import { Draft } from './draft.ts'
import { giveName } from './give-name.ts'
import { entryOf, isEntryAt, type Place } from './place.ts'

/**
 * Takes a name away in one step and makes sure that it was the one that was looked at: what somebody else put there
 * meanwhile gets its name back. The caller removes what has the draft's name now.
 */
export function takeAway(scope: ChangeScope, place: Place, expected: BigIntStats): Draft {
  const draft = new Draft(scope, place)
  try {
    fileAccess.rename(entryOf(place), entryOf(draft))
  } catch (error) {
    draft.end()
    throw error
  }
  if (isEntryAt(place.parent, draft.path, expected)) return draft
  putBack(place, draft, expected.isDirectory())
  throw changed(place)
}

/** Gives what was taken away its name again, unless the name is in use. */
export function putBack(place: Place, draft: Draft, isFolder: boolean): void {
  if (isFolder) {
    // Fails by itself on anything but an empty folder.
    fileAccess.rename(entryOf(draft), entryOf(place))
    draft.end()
    return
  }
  giveName(entryOf(draft), place)
  draft.remove()
}
