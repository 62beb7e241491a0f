import { realpathSync } from 'node:fs'
import type { ReadFiles, WriteFiles } from '../../contracts/handles.ts'
import { asWritten } from './as-written.ts'
import { statAt } from './at-descriptor.ts'
import { openChanges } from './change/changes.ts'
import { toFileError } from './file-error.ts'
import { type Access, createFilesDoor, type FilesCall } from './files-door.ts'
import { filesHandle } from './files-handle.ts'
import { openRoots, type RootOptions, type Target } from './open-roots.ts'
import { findLink, followLinks, inParent, refuseLink } from './walk.ts'

/** What the owner says about files. */
interface FilesGuardOptions {
  /** Folders that exist; relative paths are relative to the first. */
  readonly roots: readonly RootOptions[]
  /** The most bytes that one read may ask for. */
  readonly maxReadBytes: number
  /** The most bytes of a read that does not say how many. Default: `maxReadBytes`. */
  readonly usualReadBytes?: number
  /** Absolute real paths inside the roots that tools never change: the config, its plugins. */
  readonly protect?: readonly string[]
  /** Those that tools do not see either: records, store. A root inside one of them is not meant. */
  readonly hidden?: readonly string[]
  /** Absolute, out of the tools' reach: where unfinished files are written down, so that none stays after a crash. */
  readonly draftsFolder?: string
  /** Absolute folders that hold workspaces of other runs: what a crash left unfinished there is removed, too. */
  readonly sweepBelow?: readonly string[]
}

/** The only door to the file system. */
export interface FilesGuard {
  /** The real absolute path a call would touch, for policy: links resolved, nothing changed, nothing needs to exist. */
  resolve(path: string, access: Access): string
  /** The real path of the regular file that is there now; none when there is none, or no way to it. */
  present(path: string): string | undefined
  /** The handle for one call: what it may do is there, nothing else. */
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
  const door = createFilesDoor(roots, maxReadBytes, protect, hidden, usualReadBytes)
  const { ledger } = openChanges(door, draftsFolder, sweepBelow)

  const settle = (path: string, access: Access): Target => {
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
        door.admit(target, access)
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
        // Only a first look: whatever is wrong with the path is said where the path is used.
        return undefined
      }
    },
    handle: (call) => filesHandle(door, call),
    close() {
      roots.close()
      ledger.close()
    },
  }
}

/** There is something, and no link on the way. By name and therefore only good for telling policy; a third of a walk. */
function isReal({ path }: Target): boolean {
  try {
    return realpathSync.native(path) === path
  } catch {
    // Not there, or out of reach: the walk tells why.
    return false
  }
}
