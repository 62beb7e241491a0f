import { type BigIntStats, fchownSync, fstatSync } from 'node:fs'
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
