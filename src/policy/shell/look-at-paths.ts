import { posix } from 'node:path'
import type { CommandPlace } from './reading.ts'

/** A file that a command names: where it may be, and why an allow does not reach it. */
export interface SeenPath {
  readonly paths: readonly string[]
  readonly doubt?: string
}

/** Says whether a real path lies in one of the roots. */
export function isInsideRoots(path: string, { roots }: Pick<CommandPlace, 'roots'>): boolean {
  const normal = posix.normalize(path)
  return roots.some((root) => normal === root || normal.startsWith(root.endsWith('/') ? root : `${root}/`))
}

/**
 * Finds the file that a word names, in each folder that the command may run in; names that end in a glob count by what
 * stands before it.
 */
export function seePath(
  word: string,
  place: CommandPlace,
  folders: readonly string[] | undefined,
  isGlob: boolean,
): SeenPath {
  if (word === '/dev/null') return { paths: [] }
  const text = word.startsWith('~') ? expandHome(word, place) : word
  if (text === undefined) return { paths: [], doubt: `where ${word} is is not known` }
  if (folders === undefined && !text.startsWith('/'))
    return { paths: [], doubt: `where ${word} is depends on a cd before it` }
  const starts = folders ?? [place.cwd]
  const paths = [...new Set(starts.map((folder) => posix.resolve(folder, text)))]
  const end = isGlob ? globFolder(text) : text.length
  const fixed = starts.map((folder) => posix.resolve(folder, text.slice(0, end)))
  const isInside = fixed.every((path) => isInsideRoots(path, place)) && !text.slice(end).split('/').includes('..')
  return isInside ? { paths } : { paths, doubt: `${word} is outside the folders it may touch` }
}

/** Where the folder ends that a glob looks in. */
function globFolder(text: string): number {
  return text.slice(0, text.search(/[*?[]/)).lastIndexOf('/') + 1
}

function expandHome(word: string, { home }: CommandPlace): string | undefined {
  if (home === undefined || !/^~(\/|$)/.test(word)) return undefined
  return `${home}${word.slice(1)}`
}
