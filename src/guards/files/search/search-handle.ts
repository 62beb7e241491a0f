import type { ReadFiles } from '../../../contracts/handles.ts'
import { lazyModule } from '../../../disk/lazy-module.ts'
import type { FilesCall, FilesDoor } from '../files-door.ts'
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
      door.use(path, call, async () => (await loadRunSearch()).runSearch(door, call, path, options, settings)),
    find: (path, options) =>
      door.use(path, call, async () => (await loadRunSearch()).runFind(door, call, path, options, settings)),
  }
}
