import { isAbsolute, relative, sep } from 'node:path'

/** Whether a path is the folder or something in it, by their spelling: both are real paths. */
export function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return !isAbsolute(way) && way.split(sep, 1)[0] !== '..'
}
