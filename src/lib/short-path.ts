import { basename, dirname, join } from 'node:path'

/** The last two parts of a path: a person knows the file by them, and a model does not learn where it lies. */
export function shortPath(path: string): string {
  return join(basename(dirname(path)), basename(path))
}
