import { constants, linkSync, lstatSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { errnoOf } from '../../../disk/errno.ts'
import { type CurrentFile, changed, isSame, modeOf } from './current-file.ts'
import type { Draft } from './draft.ts'
import { CANNOT_LINK } from './give-name.ts'
import { keepOwner } from './keep-owner.ts'
import { piecesOf } from './pieces-of.ts'
import type { Place } from './place.ts'

const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW

/** Gives the file at a place a second name; where the system has none for it, that name gets a copy. */
export async function backUp(place: Place, current: CurrentFile, draft: Draft, signal: AbortSignal): Promise<void> {
  try {
    linkSync(place.path, draft.path)
  } catch (error) {
    if (!CANNOT_LINK.has(errnoOf(error))) throw error
    return copyCurrent(current, await open(draft.path, CREATE, 0o600), signal)
  }
  if (!isSame(lstatSync(draft.path, { bigint: true }), current.stats)) throw changed(place)
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
