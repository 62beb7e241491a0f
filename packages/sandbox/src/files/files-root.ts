import { ToolError, throwIfAborted } from '@tool-hub/core'
import { isWithin } from '@tool-hub/core/lib'
import { closedToFileTools, isHiddenFromCommands, RUN_BY_OTHERS } from '../protected/names/index.ts'
import { GitAround, isClosedInBareGit, RunLaterFiles } from '../protected/repository/index.ts'
import { asWritten, explainMissing } from './explain-path.ts'
import { quotePath, toFileError } from './file-error.ts'
import type { Access, FilesCall, PathUse } from './files-call.ts'
import type { FileTarget, Roots } from './roots.ts'

/** The open roots of one guard with the checks that every read, change and search below them must pass. */
export interface FilesRoot {
  readonly roots: Roots
  /** What runs later because of the git hooks and packages around a path. */
  readonly later: RunLaterFiles
  /** The most bytes that one read may request. */
  readonly maxReadBytes: number
  /** The most bytes of a read that names no limit. */
  readonly usualReadBytes: number
  /** Throws PATH_DENIED for secrets, files that other programs run or trust, and the records of tool-hub. */
  admit(target: FileTarget, access: Access): void
  /** All checks for one use of a path: `admit`, then the decision of policy. */
  pass(target: FileTarget, use: PathUse, call: FilesCall): void
  /** Returns the names of those files in an admitted folder that pass all checks for reading. */
  passNames(folder: FileTarget, names: readonly string[], call: FilesCall): readonly string[]
  /** Called before names in a folder are shown, which are content from outside if the file is. Returns whether one is. */
  showNames(folder: FileTarget, names: readonly string[], call: FilesCall): boolean
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
  const later = new RunLaterFiles()
  const admit = (target: FileTarget, access: Access): void => {
    const reason =
      closedToFileTools(target.names, access) ??
      (access === 'write' ? closedForWriting(target, protect, git, later) : undefined) ??
      (isInside(target, hidden) ? 'belongs to tool-hub' : undefined)
    if (reason) throw new ToolError('PATH_DENIED', `${quotePath(target.path)} ${reason}.`)
  }
  return {
    roots,
    later,
    maxReadBytes,
    usualReadBytes,
    admit,
    pass(target, use, { permits, isUntrusted, onUntrusted }) {
      admit(target, use === 'read' ? 'read' : 'write')
      permits?.(target.path, use)
      if (use === 'read' && (target.root.isUntrusted || isUntrusted?.(target.path))) onUntrusted?.(target.path)
    },
    passNames(folder, names, call) {
      const above = folder.path === '/' ? '/' : `${folder.path}/`
      const closed = hidden.filter((path) => isWithin(folder.path, path))
      const isClosed = (name: string) =>
        isHiddenFromCommands(name, false, folder.path) ||
        (closed.length > 0 && isInside({ ...folder, path: above + name }, closed))
      const permitted = filterPermitted(folder, names, call).filter((name) => !isClosed(name))
      if (permitted.length === 0) return permitted
      // Rules may be stricter now that the run has met content from outside.
      return showNames(folder, permitted, call) ? filterPermitted(folder, permitted, call) : permitted
    },
    showNames,
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

/** Returns whether one of the names is that of untrusted content. */
function showNames(folder: FileTarget, names: readonly string[], call: FilesCall): boolean {
  if (!folder.root.isUntrusted && !call.hasUntrusted?.(folder.path, names)) return false
  call.onUntrusted?.(folder.path)
  return true
}

/** Those files of a folder that policy permits to read. */
function filterPermitted({ path }: FileTarget, names: readonly string[], call: FilesCall): string[] {
  const isSure = call.permitsIn?.(path)
  return names.filter((name) => isSure?.(name) || isPermitted(path === '/' ? `/${name}` : `${path}/${name}`, call))
}

function isPermitted(path: string, { permits }: FilesCall): boolean {
  try {
    permits?.(path, 'read')
    return true
  } catch (error) {
    if (ToolError.is(error)) return false
    throw error
  }
}

function closedForWriting(
  target: FileTarget,
  protect: readonly string[],
  git: GitAround,
  later: RunLaterFiles,
): string | undefined {
  if (target.root.mode === 'read') return 'is below a root that may only be read'
  if (isClosedInBareGit(target.root.path, target.names) || git.names(target.path)) return RUN_BY_OTHERS
  if (later.isHookScript(target.path)) return 'is started by a git hook or by settings of the project'
  return isInside(target, protect) ? 'is protected: it decides what tools may do' : undefined
}

/** Not true if the root itself is inside such a folder: each run has its workspace below the records. */
function isInside({ root, path }: FileTarget, folders: readonly string[]): boolean {
  for (const folder of folders) if (isWithin(folder, path) && !isWithin(folder, root.path)) return true
  return false
}
