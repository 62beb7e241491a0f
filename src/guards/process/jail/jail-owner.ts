import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { JailSpec } from './jail.ts'

/** The user that a command runs as. */
export interface JailOwner {
  readonly uid: number
  readonly gid: number
  /** It is not the hub's own user: a hub that is root leaves its rights to the owner of the workspace. */
  readonly isOther: boolean
}

/** A user without rights, on every Linux: who runs what belongs to nobody in particular on a hub that is root. */
export const NOBODY = { uid: 65_534, gid: 65_534 } as const

/**
 * Commands run as the hub's user, who has no capabilities in the jail. For root that means: no right to files of others.
 * So where the first writable root belongs to somebody else who can get there, commands run as that user.
 */
export function jailOwner({ roots }: Pick<JailSpec, 'roots'>): JailOwner {
  const uid = process.geteuid?.() ?? 0
  const gid = process.getegid?.() ?? 0
  const hub = { uid, gid, isOther: false }
  const workspace = (roots.find((root) => root.mode === 'write') ?? roots[0])?.path
  const owner = uid === 0 && workspace ? statSync(workspace, { throwIfNoEntry: false }) : undefined
  if (!workspace || !owner || owner.uid === 0 || !canEnter(dirname(workspace), owner)) return hub
  // The group of root would still be a right that the owner of the workspace does not have.
  return { uid: owner.uid, gid: owner.gid === 0 ? owner.uid : owner.gid, isOther: true }
}

/** Whether a user comes through all folders of a path, by their mode bits; those of his own he can open, whatever they say. */
export function canEnter(folder: string, user: { readonly uid: number; readonly gid: number }): boolean {
  const found = statSync(folder, { throwIfNoEntry: false })
  if (!found?.isDirectory()) return false
  const bit = found.gid === user.gid ? 0o010 : 0o001
  if (found.uid !== user.uid && (found.mode & bit) === 0) return false
  return folder === '/' || canEnter(dirname(folder), user)
}
