import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { ToolError } from '@tool-hub/core'
import { isWithin } from '@tool-hub/core/lib'
import type { FilesGuard } from '@tool-hub/sandbox/files'

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
    resolve(path, ...how) {
      try {
        // Compares text first, because everything else costs as much as the rest of a small call.
        return (path.includes('deliverables') ? guardOf(path) : (own ?? shared)).resolve(path, ...how)
      } catch (error) {
        throw namePlace(error, path, deliverables)
      }
    },
    present: (path) => guardOf(path).present(path),
    runsLater: (path, change) => shared.runsLater(path, change),
    handle: (call) => (own ?? shared).handle(call),
    close: () => own?.close(),
  }
}

/** Returns whether the text of a path leads into the deliverables folder. */
export function namesResult(path: string, root: string, deliverables: string): boolean {
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
