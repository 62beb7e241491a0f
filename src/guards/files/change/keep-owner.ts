import { type BigIntStats, closeSync, constants, fchownSync, fstatSync, openSync, readdirSync } from 'node:fs'
import { errnoOf } from '../../../disk/errno.ts'

/** A hub that runs as root leaves a file to whom it belongs, as writing into it would; others cannot and need not. */
export function keepOwner(descriptor: number, { uid, gid }: BigIntStats): void {
  const ours = fstatSync(descriptor, { bigint: true })
  if (ours.uid === uid && ours.gid === gid) return
  try {
    fchownSync(descriptor, Number(uid), Number(gid))
  } catch (error) {
    if (errnoOf(error) !== 'EPERM') throw error
  }
}

/**
 * A hub that runs as root leaves a new file to the owner of its folder: commands run as that user and could not change
 * it otherwise. `descriptor` is a file or an empty folder that was just made, so that nobody else's is given away.
 */
export function takeFolderOwner(descriptor: number, folder: number): void {
  if (process.geteuid?.() !== 0 || fstatSync(descriptor).uid !== 0) return
  keepOwner(descriptor, fstatSync(folder, { bigint: true }))
}

const NEW_FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW

/**
 * The same for a folder that was just made, by its path over the descriptor of the one around it. Whoever may write
 * there could have put another in its place: only an empty one of root's own is given away.
 */
export function takeFolderOwnerAt(path: string, folder: number): void {
  if (process.geteuid?.() !== 0) return
  const made = openMade(path)
  if (made === undefined) return
  try {
    if (readdirSync(`/proc/self/fd/${made}/.`).length === 0) takeFolderOwner(made, folder)
  } finally {
    closeSync(made)
  }
}

/** Undefined where it was taken away or swapped for a link: then nothing is ours to give. */
function openMade(path: string): number | undefined {
  try {
    return openSync(path, NEW_FOLDER)
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(errnoOf(error))) return undefined
    throw error
  }
}
