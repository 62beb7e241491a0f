import { closeSync, constants } from 'node:fs'
import { errnoOf } from '../../../disk/errno.ts'
import { ToolError } from '../../../errors.ts'
import { fileAccess } from '../access/choose-access.ts'
import type { FolderEntry } from '../access/file-access.ts'
import { statAt } from '../at-descriptor.ts'
import { quotePath } from '../quote-path.ts'
import { entryOf, type Place } from './place.ts'

const RESERVE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL

/** What systems say that have no second links, or have none for this file or this user. */
export const CANNOT_LINK = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV'])

/**
 * Gives a file that has another name the name of a place, which must be free: link fails where rename would replace
 * what appeared meanwhile. The other name may be gone afterwards.
 */
export function giveName(entry: FolderEntry, place: Place): void {
  try {
    fileAccess.link(entry, entryOf(place))
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') throw existsAlready(place)
    if (!CANNOT_LINK.has(errnoOf(error))) throw error
    reserve(place)
    takeReserved(entry, place)
  }
}

/** Gives a folder that has another name the name of a place, which must be free. */
export function giveFolderName(entry: FolderEntry, place: Place): void {
  checkFree(place)
  try {
    // What appears after the look is not lost: rename fails on a file and on a folder with anything in it.
    fileAccess.rename(entry, entryOf(place))
  } catch (error) {
    throw ['EEXIST', 'ENOTEMPTY', 'ENOTDIR'].includes(errnoOf(error)) ? existsAlready(place) : error
  }
}

/** Throws CONFLICT when the name is in use. */
export function checkFree(place: Place): void {
  if (statAt(place.parent, place.name)) throw existsAlready(place)
}

/** What a change says that finds its name in use. */
export function existsAlready({ target }: Place): ToolError {
  return new ToolError('CONFLICT', `${quotePath(target.path)} exists already.`, {
    fix: { key: 'overwrite', value: true, hint: 'Choose another name, or overwrite on purpose.' },
  })
}

function reserve(place: Place): void {
  try {
    closeSync(fileAccess.open(place.parent, place.path, RESERVE, 0o600))
  } catch (error) {
    throw errnoOf(error) === 'EEXIST' ? existsAlready(place) : error
  }
}

function takeReserved(entry: FolderEntry, place: Place): void {
  try {
    fileAccess.rename(entry, entryOf(place))
  } catch (error) {
    fileAccess.unlink(entryOf(place))
    throw error
  }
}
