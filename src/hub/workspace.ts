import { chownSync, existsSync, lstatSync, mkdirSync, readdirSync, realpathSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { ToolError } from '../core/index.ts'
import { isWithin } from '../lib/index.ts'
import { canEnter, NOBODY_USER } from '../sandbox/exec/index.ts'
import type { FilesGuard } from '../sandbox/files/index.ts'

/**
 * Creates the workspace of a run, `<workspaces>/<run>/workspace` or the one next to its records. A hub that runs as root
 * gives an unused workspace to an unprivileged user, who then runs its commands; that user can enter the folders above it,
 * but not list them.
 */
export function makeWorkspace(folder: string): void {
  const run = dirname(folder)
  const user = workspaceUser(dirname(run))
  mkdirSync(run, { recursive: true, mode: user ? 0o711 : 0o700 })
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  // The folder above belongs to root, so nobody can have replaced this one.
  if (user && canEnter(run, user) && isUnused(folder)) chownSync(folder, user.uid, user.gid)
}

/**
 * Returns the user for commands in such workspaces, or `undefined` for the user of the hub, also if no other user can
 * enter.
 */
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

/** Options for a run that shares a root with other runs and has its own deliverables. */
interface ResultFilesOptions {
  /** The files guard of the shared root. */
  readonly shared: FilesGuard
  /** The shared root, to which relative paths are relative. */
  readonly root: string
  /** The folder `deliverables` of the run. */
  readonly deliverables: string
  /** Opens a guard for the shared root and the deliverables. */
  readonly open: () => FilesGuard
}

/** The relative path of the deliverables for a run with its own workspace: the folder next to the workspace. */
export const RESULTS_ALIAS = '../deliverables'

/**
 * Returns the files guard of a run that shares a root with others. The first path in `deliverables` opens a guard that also
 * includes that folder; most runs never use one and open nothing of their own.
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

/** Returns whether the text of a path leads into the deliverables folder. */
export function namesResult(path: string, root: string, deliverables: string): boolean {
  // Compares text first, because resolving costs as much as the rest of a small call.
  if (!path.includes('deliverables')) return false
  const named = resolve(root, path)
  return isWithin(deliverables, named) || isWithin(realFolder(deliverables), named)
}

function realFolder(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    // The folder does not exist, so no path leads into it.
    return path
  }
}

/** Throws for `../deliverables`, which is outside the shared root, and names the correct folder. */
function namePlace(error: unknown, path: string, deliverables: string): unknown {
  if (!ToolError.is(error) || error.code !== 'PATH_OUTSIDE_SANDBOX' || !isWithin(RESULTS_ALIAS, path)) return error
  const hint = `${error.fix.hint} Results of this run belong below ${deliverables}.`
  return new ToolError(error.code, error.message, { hint, details: error.details, cause: error })
}
