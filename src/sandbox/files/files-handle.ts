import type { ReadFiles, WriteFiles } from '../../core/handles.ts'
import { lazyModule } from '../../lib/lazy-module.ts'
import { changeHandle } from './change/change-handle.ts'
import { restoreHandle } from './change/restore-handle.ts'
import { noticeOutside } from './file-error.ts'
import type { FilesCall, FilesRoot } from './files-root.ts'
import { listFolder } from './read/list-folder.ts'
import { hashFile, readBytes, readFile } from './read/read-file.ts'
import { readLinePage } from './read/read-lines.ts'
import { statEntry } from './read/stat-entry.ts'
import type { SearchSettings } from './search/run-search.ts'

const loadSearch = lazyModule(() => import('./search/run-search.ts'))

/** The file handle of one call: it has the methods that the call may use, and no others. */
export function createFileHandle(filesRoot: FilesRoot, call: FilesCall): Partial<ReadFiles & WriteFiles> {
  if (call.canRead && !call.canWrite) return readHandle(filesRoot, call)
  return {
    ...(call.canRead && readHandle(filesRoot, call)),
    ...(call.canWrite && changeHandle(filesRoot, call)),
    ...(call.canWrite && call.canRestore && restoreHandle(filesRoot, call)),
  }
}

function readHandle(filesRoot: FilesRoot, call: FilesCall): ReadFiles {
  const use = <T>(path: string, work: () => Promise<T>): Promise<T> => filesRoot.use(path, call, work)
  return {
    readText: async (path, options) => (await use(path, () => readFile(filesRoot, call, path, options?.maxBytes))).text,
    readFile: (path, options) => use(path, () => readFile(filesRoot, call, path, options?.maxBytes)),
    readBytes: (path, options) => use(path, () => readBytes(filesRoot, call, path, options)),
    readLines: (path, options) => use(path, () => readLinePage(filesRoot, call, path, options)),
    stat: (path) => use(path, () => statEntry(filesRoot, call, path)),
    sha256: (path) => use(path, () => hashFile(filesRoot, call, path)),
    async list(path, options) {
      const listing = await use(path, () => listFolder(filesRoot, call, path, options))
      if (listing.entries.length === 0) noticeOutside(path, filesRoot.roots, call)
      return listing
    },
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
        const found = await (await loadSearch()).searchFiles(filesRoot, call, path, options, settings)
        if (found.lines.length + found.files.length === 0) noticeOutside(path, filesRoot.roots, call)
        return found
      }),
    find: (path, options) =>
      filesRoot.use(path, call, async () => {
        const found = await (await loadSearch()).findFiles(filesRoot, call, path, options, settings)
        if (found.files.length === 0) noticeOutside(path, filesRoot.roots, call)
        return found
      }),
  }
}
