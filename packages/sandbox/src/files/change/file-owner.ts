import { type BigIntStats, closeSync, constants, fchownSync, fstatSync } from 'node:fs'
import { errnoOf } from '@tool-hub/core/lib'
import { namesAt, openAt, openFolder } from '../walk.ts'

/** A hub that runs as root keeps the owner of a file, as writing into it would; other users cannot and need not. */
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
 * A hub that runs as root gives a new file to the owner of its folder: commands run as that user and could not change it
 * otherwise. `descriptor` is a file or an empty folder that was just created, so that no other file changes its owner.
 */
export function takeFolderOwner(descriptor: number, folder: number): void {
  if (process.geteuid?.() !== 0 || fstatSync(descriptor).uid !== 0) return
  keepOwner(descriptor, fstatSync(folder, { bigint: true }))
}

/**
 * The same for a folder that was just created in another one. Anyone who may write there could have replaced it: only an
 * empty folder of root changes its owner.
 */
export function takeFolderOwnerAt(parent: number, name: string): void {
  if (process.geteuid?.() !== 0) return
  const made = openMade(parent, name)
  if (made === undefined) return
  try {
    if (namesAt(made).length === 0) takeOpenOwner(made, parent)
  } finally {
    closeSync(made)
  }
}

/** An O_PATH descriptor cannot change the owner. */
function takeOpenOwner(made: number, parent: number): void {
  const descriptor = openAt(made, '.', constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    takeFolderOwner(descriptor, parent)
  } finally {
    closeSync(descriptor)
  }
}

/** Undefined if it was removed or replaced with a link or a file: then its owner does not change. */
function openMade(parent: number, name: string): number | undefined {
  try {
    const made = openFolder(parent, name)
    return typeof made === 'number' ? made : undefined
  } catch (error) {
    if (errnoOf(error) === 'ENOTDIR') return undefined
    throw error
  }
}
