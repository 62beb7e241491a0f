import { realpathSync } from 'node:fs'
import {
  type Listing,
  type ListOptions,
  lazyModule,
  type NamedEntry,
  type NameOptions,
  type ReadFiles,
  type WriteFiles,
} from '@tool-hub/core'
import type { ContentChange, RunLater } from '../protected/repository/index.ts'
import { changeHandle } from './change/change-handle.ts'
import { openChanges } from './change/change-scope.ts'
import { restoreHandle } from './change/restore-handle.ts'
import { asWritten, noticeOutside } from './explain-path.ts'
import { toFileError } from './file-error.ts'
import type { Access, FilesCall } from './files-call.ts'
import { createFilesRoot, type FilesRoot } from './files-root.ts'
import { listFolder, statEntry } from './read/list-folder.ts'
import { hashFile, readBytes, readFile } from './read/read-file.ts'
import { readLinePage } from './read/read-lines.ts'
import { type FileTarget, openRoots, type RootOptions } from './roots.ts'
import type { SearchSettings } from './search/run-search.ts'
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

/** Called with the path of a link, and whether its root is marked untrusted. */
type OnLink = (link: string, isUntrusted: boolean) => void

/** Guards the file system: tools reach files only through it. */
export interface FilesGuard {
  /**
   * The real absolute path that a call would touch, for policy. Resolves links and changes nothing; the path need not exist.
   * `onLink` is called with each link on the way: the result and errors name where it leads.
   */
  resolve(path: string, access: Access, onLink?: OnLink): string
  /** The real path of an existing regular file; undefined if there is none or it cannot be reached. */
  present(path: string): string | undefined
  /**
   * Who runs or obeys a file later, by its real path. For a package.json, `change` says what changes; without it, all of
   * it counts.
   */
  runsLater(path: string, change?: ContentChange): RunLater | undefined
  /** The file handle of one call: it has the methods that the call may use, and no others. */
  handle(call: FilesCall): Partial<ReadFiles & WriteFiles>
  close(): void
}

/**
 * Opens the roots and guards them: every path is walked by descriptors from a root, so that nothing that is
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
  const changes = openChanges(filesRoot, draftsFolder, sweepBelow)

  const settle = (path: string, access: Access, onLink?: OnLink): FileTarget => {
    const target = roots.locate(path)
    if (isReal(target)) return target
    const find = (next: FileTarget) => {
      const found = findLink(next)
      if ('link' in found) onLink?.(found.at ?? next.path, next.root.isUntrusted)
      return found
    }
    if (access === 'read') return followLinks(roots, path, find)
    const found = find(target)
    return 'link' in found ? refuseLink(roots, found, target) : found
  }

  return {
    resolve(path, access, onLink) {
      try {
        const target = settle(path, access, onLink)
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
        // Only a first check: the use of the path reports what is wrong with it.
        return undefined
      }
    },
    runsLater: (path, change) => filesRoot.later.find(path, change),
    handle(call) {
      if (call.canRead && !call.canWrite) return readHandle(filesRoot, call)
      return {
        ...(call.canRead && readHandle(filesRoot, call)),
        ...(call.canWrite && changeHandle(changes, call)),
        ...(call.canWrite && call.canRestore && restoreHandle(changes, call)),
      }
    },
    close() {
      roots.close()
      changes.ledger.close()
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

const loadSearch = lazyModule(() => import('./search/run-search.ts'))
const loadFind = lazyModule(() => import('./search/find-walk.ts'))

function readHandle(filesRoot: FilesRoot, call: FilesCall): ReadFiles {
  function list(path: string, options?: ListOptions): Promise<Listing>
  function list(path: string, options: NameOptions): Promise<Listing<NamedEntry>>
  async function list(path: string, options?: ListOptions | NameOptions): Promise<Listing<NamedEntry>> {
    const listing = await filesRoot.use(path, call, () => listFolder(filesRoot, call, path, options))
    if (listing.entries.length === 0) noticeOutside(path, filesRoot.roots, call)
    return listing
  }
  return {
    readText: async (path, options) =>
      (await filesRoot.use(path, call, () => readFile(filesRoot, call, path, options?.maxBytes))).text,
    readFile: (path, options) => filesRoot.use(path, call, () => readFile(filesRoot, call, path, options?.maxBytes)),
    readBytes: (path, options) => filesRoot.use(path, call, () => readBytes(filesRoot, call, path, options)),
    readLines: (path, options) => filesRoot.use(path, call, () => readLinePage(filesRoot, call, path, options)),
    stat: (path) => filesRoot.use(path, call, () => statEntry(filesRoot, call, path)),
    sha256: (path) => filesRoot.use(path, call, () => hashFile(filesRoot, call, path)),
    list,
    ...searchHandle(filesRoot, call),
  }
}

/** The searching part of a handle; the search is loaded when it is first used. */
export function searchHandle(
  filesRoot: FilesRoot,
  call: FilesCall,
  settings?: SearchSettings,
): Pick<ReadFiles, 'search' | 'find'> {
  return {
    search: (path, options) =>
      filesRoot.use(path, call, async () => {
        const found = await (await loadSearch()).searchTree(filesRoot, call, path, options, settings)
        if (found.lines.length + found.files.length === 0) noticeOutside(path, filesRoot.roots, call)
        return found
      }),
    find: (path, options) =>
      filesRoot.use(path, call, async () => {
        const found = await (await loadFind()).findFiles(filesRoot, call, path, options)
        if (found.files.length === 0) noticeOutside(path, filesRoot.roots, call)
        return found
      }),
  }
}
