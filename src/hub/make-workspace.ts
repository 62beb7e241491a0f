import { chownSync, existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { canEnter, NOBODY } from '../guards/process/jail/jail-owner.ts'

/**
 * Makes `<workspaces>/<run>/workspace`. A hub that is root leaves a new one to a user without rights, who then runs its
 * commands; that user can enter the folders above it, but not list them.
 */
export function makeWorkspace(folder: string): void {
  const run = dirname(folder)
  const user = workspaceUser(dirname(run))
  mkdirSync(run, { recursive: true, mode: user ? 0o711 : 0o700 })
  const isNew = mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined
  // The folder above is root's own, so nobody can have put another in its place.
  if (isNew && user && canEnter(run, user)) chownSync(folder, user.uid, user.gid)
}

/** Who runs the commands of such workspaces; undefined for the user of the hub, also where nobody else gets there. */
export function workspaceUser(workspaces: string): typeof NOBODY | undefined {
  if (process.platform !== 'linux' || process.geteuid?.() !== 0) return undefined
  return canEnter(existing(workspaces), NOBODY) ? NOBODY : undefined
}

function existing(folder: string): string {
  return existsSync(folder) ? folder : existing(dirname(folder))
}
