import { closeSync, constants, linkSync, lstatSync, openSync, renameSync, unlinkSync } from 'node:fs'
import { errnoOf } from '../../../disk/errno.ts'
import { ToolError } from '../../../errors.ts'
import { quotePath } from '../quote-path.ts'
import type { Place } from './place.ts'

const RESERVE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW

/** What systems say that have no second links, or have none for this file or this user. */
export const CANNOT_LINK = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV'])

/**
 * Gives a file that has another name the name of a place, which must be free: link fails where rename would replace
 * what appeared meanwhile. The other name may be gone afterwards.
 */
export function giveName(path: string, place: Place): void {
  try {
    linkSync(path, place.path)
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') throw existsAlready(place)
    if (!CANNOT_LINK.has(errnoOf(error))) throw error
    reserve(place)
    takeReserved(path, place)
  }
}

/** Gives a folder that has another name the name of a place, which must be free. */
export function giveFolderName(path: string, place: Place): void {
  checkFree(place)
  try {
    // What appears after the look is not lost: rename fails on a file and on a folder with anything in it.
    renameSync(path, place.path)
  } catch (error) {
    throw ['EEXIST', 'ENOTEMPTY', 'ENOTDIR'].includes(errnoOf(error)) ? existsAlready(place) : error
  }
}

/** Throws CONFLICT when the name is in use. */
export function checkFree(place: Place): void {
  if (lstatSync(place.path, { throwIfNoEntry: false })) throw existsAlready(place)
}

/** What a change says that finds its name in use. */
export function existsAlready({ target }: Place): ToolError {
  return new ToolError('CONFLICT', `${quotePath(target.path)} exists already.`, {
    fix: { key: 'overwrite', value: true, hint: 'Choose another name, or overwrite on purpose.' },
  })
}

function reserve(place: Place): void {
  try {
    closeSync(openSync(place.path, RESERVE, 0o600))
  } catch (error) {
    throw errnoOf(error) === 'EEXIST' ? existsAlready(place) : error
  }
}

function takeReserved(path: string, place: Place): void {
  try {
    renameSync(path, place.path)
  } catch (error) {
    unlinkSync(place.path)
    throw error
  }
}
