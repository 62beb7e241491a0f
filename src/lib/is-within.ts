import { relative } from 'node:path'

/** `//`, `/./`, `/../` or a slash at the end: a path whose text alone does not show what contains it. */
const NOT_NORMALIZED = /\/\.{0,2}(?:\/|$)/

/** Whether an absolute path is a folder or below it. Links are not resolved. */
export function isWithin(folder: string, path: string): boolean {
  if (!NOT_NORMALIZED.test(folder) && !NOT_NORMALIZED.test(path)) {
    return path.startsWith(folder) && (path.length === folder.length || path[folder.length] === '/')
  }
  const way = relative(folder, path)
  return way === '' || !(way === '..' || way.startsWith('../'))
}
