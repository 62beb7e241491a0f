import type { ReadFiles } from '../../../contracts/handles.ts'
import { lazyModule } from '../../../disk/lazy-module.ts'
import type { FilesCall, FilesDoor } from '../files-door.ts'
import { noticeOutside } from '../outside.ts'
import type { SearchSettings } from './run-search.ts'

const loadRunSearch = lazyModule(() => import('./run-search.ts'))

/** The part of a call's handle that searches; engines are loaded when the first search needs them. */
export function searchHandle(
  door: FilesDoor,
  call: FilesCall,
  settings?: SearchSettings,
): Pick<ReadFiles, 'search' | 'find'> {
  return {
    search: (path, options) =>
      door.use(path, call, async () => {
        const found = await (await loadRunSearch()).runSearch(door, call, path, options, settings)
        if (found.lines.length + found.files.length === 0) noticeOutside(path, door.roots, call)
        return found
      }),
    find: (path, options) =>
      door.use(path, call, async () => {
        const found = await (await loadRunSearch()).runFind(door, call, path, options, settings)
        if (found.files.length === 0) noticeOutside(path, door.roots, call)
        return found
      }),
  }
}
