import { basename, dirname, join, relative } from 'node:path'

/** `//`, `/./`, `/../` or a slash at the end: such a path cannot be compared as text. */
const NOT_NORMALIZED = /\/\.{0,2}(?:\/|$)/

/** Whether an absolute path is this folder or below it. Links are not resolved. */
export function isWithin(folder: string, path: string): boolean {
  if (!NOT_NORMALIZED.test(folder) && !NOT_NORMALIZED.test(path)) {
    return path.startsWith(folder) && (path.length === folder.length || path[folder.length] === '/')
  }
  const route = relative(folder, path)
  return route === '' || !(route === '..' || route.startsWith('../'))
}

/**
 * Returns the last two segments of a path: enough for a person to know the file, without telling a model where it is.
 */
export function shortPath(path: string): string {
  return join(basename(dirname(path)), basename(path))
}

/** Returns the code that the system or Node gave an error, such as `ENOENT`, or `UNKNOWN` for an error without one. */
export function errnoOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : 'UNKNOWN'
}
