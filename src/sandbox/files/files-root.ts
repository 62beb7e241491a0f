import { type Journal, type SeenFiles, ToolError, throwIfAborted } from '../../core/index.ts'
import { isWithin } from '../../lib/index.ts'
import { GitAround } from '../protected/git-around.ts'
import { isClosedInBareGit } from '../protected/git-folder.ts'
import { closedToFileTools, RUN_BY_OTHERS } from '../protected/protected-names.ts'
import type { SharedChanges } from './change/change-scope.ts'
import { asWritten, explainMissing, quotePath, toFileError } from './file-error.ts'
import type { FileTarget, Roots } from './open-roots.ts'

/** Reading leaves a file as it was; writing creates, replaces, moves or removes one. */
export type Access = 'read' | 'write'

/** The uses that policy decides on; `overwrite` replaces or removes content. */
export type PathUse = Access | 'overwrite'

/** What one call may do with files, and the services of the pipeline that it uses meanwhile. */
export interface FilesCall {
  /** Creates the signal on first use, which costs as much as a small read. Short work checks `isStopped` instead. */
  readonly signal: () => AbortSignal
  readonly isStopped?: () => boolean
  /** The call belongs to the owner of the hub, not to a principal: its errors may mention the current folder. */
  readonly isOwner?: boolean
  readonly canRead: boolean
  readonly canWrite: boolean
  /** The call is an undo by the owner. */
  readonly canRestore?: boolean
  /** The tool declares `danger:destructive`. */
  readonly canOverwrite: boolean
  /** The size limit of the deciding rule, for reading and writing. */
  readonly maxBytes?: number
  /** Throws if policy did not decide on this path; called at the moment of use. */
  readonly permits?: (realPath: string, use: PathUse) => void
  /** Whether policy lets any tool read this file without asking. */
  readonly mayRead?: (realPath: string) => boolean
  /** The files that this run has read completely. */
  readonly seen?: SeenFiles
  /** Keeps the content that changes replace. Without one nothing can be undone. */
  readonly journal?: Journal
  /** Sends the caller a notice in addition to the result. */
  readonly notice?: (text: string) => void
  /** Whether a file, by its real path, is known to come from outside. */
  readonly isUntrusted?: (realPath: string) => boolean
  /** Called when content from outside is read. */
  readonly onUntrusted?: () => void
}

/** The open roots of one guard with the checks that every read, change and search below them must pass. */
export interface FilesRoot {
  readonly roots: Roots
  /** The most bytes that one read may request. */
  readonly maxReadBytes: number
  /** The most bytes of a read that names no limit. */
  readonly usualReadBytes: number
  /** The state that all changes below these roots share; set before the first change. */
  changes?: SharedChanges
  /** Throws PATH_DENIED for secrets, files that other programs run or trust, and the records of tool-hub. */
  admit(target: FileTarget, access: Access): void
  /** All checks for one use of a path: `admit`, then the decision of policy. */
  pass(target: FileTarget, use: PathUse, call: FilesCall): void
  /** Runs one use of a path unless the call was stopped, and turns system errors into errors for the caller. */
  use<T>(path: string, call: FilesCall, work: () => Promise<T>): Promise<T>
}

/**
 * Puts the checks in front of open roots. `protect` lists absolute paths inside the roots that tools never change,
 * `hidden` those that they cannot see either.
 */
export function createFilesRoot(
  roots: Roots,
  maxReadBytes: number,
  protect: readonly string[],
  hidden: readonly string[] = [],
  usualReadBytes: number = maxReadBytes,
): FilesRoot {
  const git = new GitAround()
  const admit = (target: FileTarget, access: Access): void => {
    const reason =
      closedToFileTools(target.names, access) ??
      (access === 'write' ? closedForWriting(target, protect, git) : undefined) ??
      (isInside(target, hidden) ? 'belongs to tool-hub' : undefined)
    if (reason) throw new ToolError('PATH_DENIED', `${quotePath(target.path)} ${reason}.`)
  }
  return {
    roots,
    maxReadBytes,
    usualReadBytes,
    admit,
    pass(target, use, { permits, isUntrusted, onUntrusted }) {
      admit(target, use === 'read' ? 'read' : 'write')
      permits?.(target.path, use)
      if (use === 'read' && (target.root.isUntrusted || isUntrusted?.(target.path))) onUntrusted?.()
    },
    async use(path, call, work) {
      if (call.isStopped?.() !== false) throwIfAborted(call.signal())
      try {
        return await work()
      } catch (error) {
        throwIfAborted(call.signal())
        throw explainMissing(asWritten(toFileError(error, path), path, roots), path, roots, call)
      }
    },
  }
}

function closedForWriting(target: FileTarget, protect: readonly string[], git: GitAround): string | undefined {
  if (target.root.mode === 'read') return 'is below a root that may only be read'
  if (isClosedInBareGit(target.root.path, target.names) || git.names(target.path)) return RUN_BY_OTHERS
  return isInside(target, protect) ? 'is protected: it decides what tools may do' : undefined
}

/** Not true if the root itself is inside such a folder: each run has its workspace below the records. */
function isInside({ root, path }: FileTarget, folders: readonly string[]): boolean {
  return folders.some((folder) => isWithin(folder, path) && !isWithin(folder, root.path))
}
