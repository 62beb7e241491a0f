import { realpathSync } from 'node:fs'
import type { ReadFiles, WriteFiles } from '../../core/handles.ts'
import { openChanges } from './change/change-scope.ts'
import { asWritten, toFileError } from './file-error.ts'
import { createFileHandle } from './files-handle.ts'
import { type Access, createFilesRoot, type FilesCall } from './files-root.ts'
import { type FileTarget, openRoots, type RootOptions } from './open-roots.ts'
import { findLink, followLinks, inParent, refuseLink, statAt } from './walk.ts'

/** The owner's settings for files. */
interface FilesGuardOptions {
  /** Folders that exist; relative paths are relative to the first. */
  readonly roots: readonly RootOptions[]
  /** The most bytes that one read may request. */
  readonly maxReadBytes: number
  /** The most bytes of a read that names no limit. Default: `maxReadBytes`. */
  readonly usualReadBytes?: number
  /** Absolute real paths inside the roots that tools never change: the config, its plugins. */
  readonly protect?: readonly string[]
  /** Those that tools cannot see either: records, store. Does not apply to a root inside one of them. */
  readonly hidden?: readonly string[]
  /** Absolute folder that tools cannot reach. It lists unfinished files, so that none is left after a crash. */
  readonly draftsFolder?: string
  /** Absolute folders with workspaces of other runs: unfinished files that a crash left there are removed as well. */
  readonly sweepBelow?: readonly string[]
}

/** Guards the file system: tools reach files only through it. */
export interface FilesGuard {
  /** The real absolute path a call would touch, for policy: links resolved, nothing changed, nothing needs to exist. */
  resolve(path: string, access: Access): string
  /** The real path of an existing regular file; undefined if there is none or it cannot be reached. */
  present(path: string): string | undefined
  /** The file handle of one call: it has the methods that the call may use, and no others. */
  handle(call: FilesCall): Partial<ReadFiles & WriteFiles>
  close(): void
}

/**
 * Opens the roots and guards them: every path is walked by descriptors from a root, so that nothing which is
 * swapped meanwhile leads outside.
 */
export function createFilesGuard(options: FilesGuardOptions): FilesGuard {
  const {
    roots: folders,
    maxReadBytes,
    usualReadBytes = maxReadBytes,
    protect = [],
    hidden = [],
    draftsFolder,
    sweepBelow,
  } = options
  const roots = openRoots(folders)
  const filesRoot = createFilesRoot(roots, maxReadBytes, protect, hidden, usualReadBytes)
  const { ledger } = openChanges(filesRoot, draftsFolder, sweepBelow)

  const settle = (path: string, access: Access): FileTarget => {
    const target = roots.locate(path)
    if (isReal(target)) return target
    if (access === 'read') return followLinks(roots, path, findLink)
    const found = findLink(target)
    return 'link' in found ? refuseLink(roots, found, target) : found
  }

  return {
    resolve(path, access) {
      try {
        const target = settle(path, access)
        filesRoot.admit(target, access)
        return target.path
      } catch (error) {
        throw asWritten(toFileError(error, path), path, roots)
      }
    },
    present(path) {
      try {
        const target = roots.locate(path)
        const found = inParent(target, (descriptor, name) => (statAt(descriptor, name)?.isFile() ? target : undefined))
        return found && 'path' in found ? found.path : undefined
      } catch {
        // Only a first look: the use of the path reports what is wrong with it.
        return undefined
      }
    },
    handle: (call) => createFileHandle(filesRoot, call),
    close() {
      roots.close()
      ledger.close()
    },
  }
}

/** Whether the path exists and no link leads to it. Checked by name, so it is good enough for policy only; it takes a third of the time of a walk. */
function isReal({ path }: FileTarget): boolean {
  try {
    return realpathSync.native(path) === path
  } catch {
    // It does not exist or cannot be reached: the walk reports why.
    return false
  }
}
