import { constants } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { errnoOf } from '../../../disk/errno.ts'
import { fileAccess } from '../access/choose-access.ts'
import { type CurrentFile, changed, modeOf } from './current-file.ts'
import type { Draft } from './draft.ts'
import { CANNOT_LINK } from './give-name.ts'
import { keepOwner } from './keep-owner.ts'
import { piecesOf } from './pieces-of.ts'
import { entryOf, isEntryAt, type Place } from './place.ts'

const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL

/** Gives the file at a place a second name; where the system has none for it, that name gets a copy. */
export async function backUp(place: Place, current: CurrentFile, draft: Draft, signal: AbortSignal): Promise<void> {
  try {
    fileAccess.link(entryOf(place), entryOf(draft))
  } catch (error) {
    if (!CANNOT_LINK.has(errnoOf(error))) throw error
    return copyCurrent(current, await fileAccess.openHandle(place.parent, draft.path, CREATE, 0o600), signal)
  }
  if (!isEntryAt(place.parent, draft.path, current.stats)) throw changed(place)
}

/** What is written to the file meanwhile is found before it is replaced. */
async function copyCurrent({ descriptor, stats }: CurrentFile, copy: FileHandle, signal: AbortSignal): Promise<void> {
  try {
    for await (const piece of piecesOf(descriptor, Number(stats.size), signal)) await copy.writeFile(piece)
    keepOwner(copy.fd, stats)
    await copy.chmod(modeOf(stats))
    await copy.sync()
  } finally {
    await copy.close()
  }
}
