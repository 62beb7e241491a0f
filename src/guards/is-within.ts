import { relative } from 'node:path'

/** Whether a path is a folder or below it; both are absolute and have no links. */
export function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way === '' || !(way === '..' || way.startsWith('../'))
}
