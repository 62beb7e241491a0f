import type { ReadFiles, WriteFiles } from '../../define.ts'
import { ToolError } from '../../errors.ts'
import { throwIfAborted } from '../throw-if-aborted.ts'
import { toFileError } from './file-error.ts'
import { isBelow, openRoots, type Target } from './open-roots.ts'
import { protectedPath } from './protected-path.ts'
import { createQueueByKey } from './queue-by-key.ts'
import { quotePath } from './quote-path.ts'
import { readText } from './read-text.ts'
import { findLink, followLinks, refuseLink } from './walk.ts'
import { writeText } from './write-text.ts'

/** Reading leaves a file as it was; writing makes or replaces one. */
type Access = 'read' | 'write'

/** What the owner says about files. */
interface FilesGuardOptions {
  /** Folders that exist; relative paths are relative to the first. */
  readonly roots: ReadonlyArray<{ readonly path: string; readonly mode: Access }>
  readonly maxReadBytes: number
  /** Absolute folders inside the roots that tools never change: records, store. A root inside one of them is not meant. */
  readonly protect?: readonly string[]
}

/** What the pipeline says about one call. */
export interface FilesCall {
  readonly signal: () => AbortSignal
  readonly canWrite: boolean
  readonly canOverwrite: boolean
  /** The bound of the deciding rule, for reading and for writing. */
  readonly maxBytes?: number
  /** Throws when policy did not decide on this path; asked at the moment of use. */
  readonly permits?: (realPath: string, access: Access | 'overwrite') => void
}

/** The only door to the file system. */
export interface FilesGuard {
  /** The real absolute path a call would touch, for policy: links resolved, nothing changed, nothing needs to exist. */
  resolve(path: string, access: Access): string
  /** The handle for one call. */
  handle(call: FilesCall): ReadFiles | WriteFiles
  close(): void
}

/**
 * Opens the roots and guards them: every path is walked by descriptors from a root, so that nothing which is
 * swapped meanwhile leads outside.
 */
export function createFilesGuard({ roots: folders, maxReadBytes, protect = [] }: FilesGuardOptions): FilesGuard {
  const roots = openRoots(folders)
  const inOrder = createQueueByKey()

  const admit = (target: Target, access: Access): void => {
    const reason = protectedPath(target, access) ?? (access === 'write' ? closedForWriting(target, protect) : undefined)
    if (reason) throw new ToolError('PATH_DENIED', `${quotePath(target.path)} ${reason}.`)
  }
  const settle = (path: string, access: Access): Target => {
    if (access === 'read') return followLinks(roots, path, findLink)
    const target = roots.locate(path)
    const found = findLink(target)
    return 'link' in found ? refuseLink(roots, found, target) : found
  }

  const read = async (path: string, limit: number, { signal, permits }: FilesCall): Promise<string> => {
    try {
      throwIfAborted(signal())
      return await readText(roots, path, limit, (target) => {
        refuseFolder(target, path)
        admit(target, 'read')
        permits?.(target.path, 'read')
      })
    } catch (error) {
      throw toFileError(error, path)
    }
  }
  const write = async (path: string, text: string, { overwrite = false, mkdirp = true }, call: FilesCall) => {
    const signal = call.signal()
    try {
      return await inOrder(roots.locate(path).path, () => {
        // Located again: while this write waited its turn the guard may have been closed.
        const target = refuseFolder(roots.locate(path), path)
        admit(target, 'write')
        call.permits?.(target.path, 'write')
        if (overwrite && call.canOverwrite) call.permits?.(target.path, 'overwrite')
        const { canOverwrite, maxBytes: limit = Number.POSITIVE_INFINITY } = call
        return writeText(roots, target, text, { signal, overwrite, mkdirp, canOverwrite, limit })
      })
    } catch (error) {
      throwIfAborted(signal)
      throw toFileError(error, path)
    }
  }

  return {
    resolve(path, access) {
      try {
        const target = settle(path, access)
        admit(target, access)
        return target.path
      } catch (error) {
        throw toFileError(error, path)
      }
    },
    handle(call) {
      const reader: ReadFiles = {
        readText: (path, { maxBytes = maxReadBytes } = {}) =>
          read(path, Math.min(maxBytes, call.maxBytes ?? maxReadBytes, maxReadBytes), call),
      }
      if (!call.canWrite) return reader
      return { ...reader, writeText: (path, text, options = {}) => write(path, text, options, call) }
    },
    close: roots.close,
  }
}

function closedForWriting({ root, path }: Target, protect: readonly string[]): string | undefined {
  if (root.mode === 'read') return 'is below a root that may only be read'
  const isProtected = protect.some((folder) => isBelow(path, folder) && !isBelow(root.path, folder))
  return isProtected ? 'belongs to tool-hub' : undefined
}

function refuseFolder(target: Target, path: string): Target {
  if (!target.saysFolder && target.names.length > 0) return target
  throw new ToolError('INPUT_SCHEMA_INVALID', `${quotePath(path)} names a folder, not a file.`)
}
