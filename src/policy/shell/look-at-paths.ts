import { posix } from 'node:path'
import type { Moves } from './find-moves.ts'
import type { CommandPlace } from './reading.ts'

/** A file that a command names: where it is, or why nobody can say. */
export interface SeenPath {
  readonly path?: string
  readonly doubt?: string
}

/** Says whether a real path lies in one of the roots. */
export function isInsideRoots(path: string, { roots }: Pick<CommandPlace, 'roots'>): boolean {
  const normal = posix.normalize(path)
  return roots.some((root) => normal === root || normal.startsWith(root.endsWith('/') ? root : `${root}/`))
}

/** Finds the file that a word names; names that end in a glob count by what stands before it. */
export function seePath(word: string, place: CommandPlace, moves: Moves, isGlob = false): SeenPath {
  if (word === '/dev/null') return {}
  const text = word.startsWith('~') ? expandHome(word, place) : word
  if (text === undefined) return { doubt: `where ${word} is is not known` }
  if (!text.startsWith('/') && moves === 'unknown') return { doubt: `where ${word} is depends on a cd before it` }
  const path = posix.resolve(place.cwd, text)
  if (moves === 'below' && !text.startsWith('/') && posix.normalize(text).startsWith('..'))
    return { path, doubt: `where ${word} is depends on a cd before it` }
  const fixed = isGlob ? posix.resolve(place.cwd, text.slice(0, globFolder(text))) : path
  if (!isInsideRoots(fixed, place) || (isGlob && text.slice(globFolder(text)).split('/').includes('..')))
    return { path, doubt: `${word} is outside the folders it may touch` }
  return { path }
}

/** Where the folder ends that a glob looks in. */
function globFolder(text: string): number {
  return text.slice(0, text.search(/[*?[]/)).lastIndexOf('/') + 1
}

function expandHome(word: string, { home }: CommandPlace): string | undefined {
  if (home === undefined || !/^~(\/|$)/.test(word)) return undefined
  return `${home}${word.slice(1)}`
}
