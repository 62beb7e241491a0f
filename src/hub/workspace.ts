import { chownSync, existsSync, lstatSync, mkdirSync, readdirSync, realpathSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { ToolError } from '../core/index.ts'
import { isWithin } from '../lib/index.ts'
import { canEnter, NOBODY_USER } from '../sandbox/exec/index.ts'
import type { FilesGuard } from '../sandbox/files/index.ts'

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

/** What a run needs to reach its results where all runs share a root. */
interface ResultFilesOptions {
  /** The guard of the shared root. */
  readonly shared: FilesGuard
  /** The shared root, to which relative paths are relative. */
  readonly root: string
  /** The folder `deliverables` of the run. */
  readonly deliverables: string
  /** Opens a guard that has the shared root and the folder. */
  readonly open: () => FilesGuard
}

/** How tools name the results of a run that has its own workspace, beside which they lie. */
export const RESULTS_ALIAS = '../deliverables'

/**
 * The files of a run that works on a root which it shares with others: those of the root, and from the first path in
 * `deliverables` on those of this folder, too. Most runs never name one and open nothing of their own.
 */
export function withResults({ shared, root, deliverables, open }: ResultFilesOptions): FilesGuard {
  let own: FilesGuard | undefined
  const guardOf = (path: string): FilesGuard => {
    if (!own && namesResult(path, root, deliverables)) own = open()
    return own ?? shared
  }
  return {
    resolve(path, access) {
      try {
        return guardOf(path).resolve(path, access)
      } catch (error) {
        throw namePlace(error, path, deliverables)
      }
    },
    present: (path) => guardOf(path).present(path),
    handle: (call) => (own ?? shared).handle(call),
    close: () => own?.close(),
  }
}

/** Whether a path, by its text, leads into the folder of results. */
export function namesResult(path: string, root: string, deliverables: string): boolean {
  // Resolving costs as much as the rest of a small call.
  if (!path.includes('deliverables')) return false
  const named = resolve(root, path)
  return isWithin(deliverables, named) || isWithin(realFolder(deliverables), named)
}

function realFolder(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    // Not there: then nothing leads to it.
    return path
  }
}

/** `../deliverables` is a folder of somebody else here; where the results belong is said instead. */
function namePlace(error: unknown, path: string, deliverables: string): unknown {
  if (!ToolError.is(error) || error.code !== 'PATH_OUTSIDE_SANDBOX' || !isWithin(RESULTS_ALIAS, path)) return error
  const hint = `${error.fix.hint} Results of this run belong below ${deliverables}.`
  return new ToolError(error.code, error.message, { hint, details: error.details, cause: error })
}
