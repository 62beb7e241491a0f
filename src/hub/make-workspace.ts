import { chownSync, existsSync, lstatSync, mkdirSync, readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { canEnter, NOBODY_USER } from '../sandbox/exec/index.ts'

/**
 * Makes the workspace of a run, `<workspaces>/<run>/workspace` or the one beside its records. A hub that is root leaves an
 * unused one to a user without rights, who then runs its commands; that user can enter the folders above it, but not list
 * them.
 */
export function makeWorkspace(folder: string): void {
  const run = dirname(folder)
  const user = workspaceUser(dirname(run))
  mkdirSync(run, { recursive: true, mode: user ? 0o711 : 0o700 })
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  // The folder above is root's own, so nobody can have put another in its place.
  if (user && canEnter(run, user) && isUnused(folder)) chownSync(folder, user.uid, user.gid)
}

/** Who runs the commands of such workspaces; undefined for the user of the hub, also where nobody else gets there. */
export function workspaceUser(workspaces: string): typeof NOBODY_USER | undefined {
  if (process.platform !== 'linux' || process.geteuid?.() !== 0) return undefined
  return canEnter(existing(workspaces), NOBODY_USER) ? NOBODY_USER : undefined
}

function isUnused(folder: string): boolean {
  const stats = lstatSync(folder)
  return stats.isDirectory() && stats.uid === 0 && readdirSync(folder).length === 0
}

function existing(folder: string): string {
  return existsSync(folder) ? folder : existing(dirname(folder))
}
