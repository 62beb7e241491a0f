import type { Journal, SeenFiles } from '../../change.ts'
import { ToolError } from '../../errors.ts'
import { GitAround } from '../protected/git-around.ts'
import { isClosedInBareGit } from '../protected/git-folder.ts'
import { closedToFileTools, RUN_BY_OTHERS } from '../protected/protected-names.ts'
import { throwIfAborted } from '../throw-if-aborted.ts'
import { asWritten } from './as-written.ts'
import { toFileError } from './file-error.ts'
import { isBelow, type Roots, type Target } from './open-roots.ts'
import { namePlace } from './outside.ts'
import { quotePath } from './quote-path.ts'

/** Reading leaves a file as it was; writing makes, replaces, moves or removes one. */
export type Access = 'read' | 'write'

/** The uses that policy is asked about: replacing or removing content, too. */
export type Use = Access | 'overwrite'

/** What the pipeline says about one call. */
export interface FilesCall {
  /** Made when it is first asked for, which costs as much as a small read: long work asks, and others look at `isStopped`. */
  readonly signal: () => AbortSignal
  readonly isStopped?: () => boolean
  /** It is a call of the owner's own hub, not of a principal: it may learn what is in the current folder. */
  readonly isOwner?: boolean
  readonly canRead: boolean
  readonly canWrite: boolean
  /** It is the owner's own and takes changes back. */
  readonly canRestore?: boolean
  /** The tool declares `danger:destructive`. */
  readonly canOverwrite: boolean
  /** The bound of the deciding rule, for reading and for writing. */
  readonly maxBytes?: number
  /** Throws when policy did not decide on this path; asked at the moment of use. */
  readonly permits?: (realPath: string, use: Use) => void
  /** Whether policy lets this file be read unasked, by whatever tool. */
  readonly mayRead?: (realPath: string) => boolean
  /** What this run has read whole. */
  readonly seen?: SeenFiles
  /** Keeps what changes replace; without one nothing can be undone. */
  readonly journal?: Journal
  /** Tells the caller something beside the result. */
  readonly notice?: (text: string) => void
  /** Whether a file is known to come from outside, by its real path. */
  readonly isUntrusted?: (realPath: string) => boolean
  /** Something was read that comes from outside. */
  readonly onUntrusted?: () => void
}

/** What reading, changing and searching have in common: the roots, and who may pass. */
export interface FilesDoor {
  readonly roots: Roots
  /** The most bytes that one read may ask for, and the most of one that does not say how many. */
  readonly maxReadBytes: number
  readonly usualReadBytes: number
  /** Throws PATH_DENIED for what is closed by default: secrets, what others run or trust, our own records. */
  admit(target: Target, access: Access): void
  /** Everything that a use of a path must pass: `admit`, and the decision of policy. */
  pass(target: Target, use: Use, call: FilesCall): void
  /** Runs one use of a path for a call: not when it was stopped, and with errors that the caller understands. */
  use<T>(path: string, call: FilesCall, work: () => Promise<T>): Promise<T>
}

/**
 * Makes the door over open roots. Absolute paths inside of them that tools never change: `protect`; that they do not see
 * either: `hidden`.
 */
export function createFilesDoor(
  roots: Roots,
  maxReadBytes: number,
  protect: readonly string[],
  hidden: readonly string[] = [],
  usualReadBytes: number = maxReadBytes,
): FilesDoor {
  const git = new GitAround()
  const admit = (target: Target, access: Access): void => {
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
        throw namePlace(asWritten(toFileError(error, path), path, roots), path, roots, call)
      }
    },
  }
}

function closedForWriting(target: Target, protect: readonly string[], git: GitAround): string | undefined {
  if (target.root.mode === 'read') return 'is below a root that may only be read'
  if (isClosedInBareGit(target.root.path, target.names) || git.names(target.path)) return RUN_BY_OTHERS
  return isInside(target, protect) ? 'is protected: it decides what tools may do' : undefined
}

/** A root inside of such a folder is not meant: each run has its workspace below the records. */
function isInside({ root, path }: Target, folders: readonly string[]): boolean {
  return folders.some((folder) => isBelow(path, folder) && !isBelow(root.path, folder))
}
