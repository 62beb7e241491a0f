import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { ToolError } from '../core/index.ts'
import { isWithin } from '../lib/index.ts'
import type { FilesGuard } from '../sandbox/files/index.ts'

/** What a run needs to reach its results where all runs share a root. */
export interface ResultFilesOptions {
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
