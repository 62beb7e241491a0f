import { posix } from 'node:path'
import { isInsideRoots } from './look-at-paths.ts'
import { readMove } from './read-move.ts'
import type { CommandPlace } from './reading.ts'
import type { Draft } from './shell-reader.ts'

const MOST_FOLDERS = 16

/** Every folder that a command of the line may run in, as its `cd` may run or fail; undefined where nobody knows. */
export function findFolders(drafts: readonly Draft[], place: CommandPlace): readonly string[] | undefined {
  let folders: readonly string[] = [place.cwd]
  for (const draft of drafts) {
    const move = readMove(draft.words)
    // A name that only the run would tell is doubtful by itself.
    if (move === 'none' || draft.words[0]?.value === undefined) continue
    // What runs again, or at a time of its own, may add up to any folder.
    if (move === 'unknown' || draft.isRepeated || draft.through.length > 0) return undefined
    const moved = foldersOf(draft, folders).map((folder) => posix.resolve(folder, move.to))
    if (!moved.every((folder) => isInsideRoots(folder, place))) return undefined
    folders = [...new Set([...folders, ...moved])]
    if (folders.length > MOST_FOLDERS) return undefined
  }
  return folders
}

/** Where a command may run, of all the folders of its line. */
export function foldersOf({ within }: Pick<Draft, 'within'>, folders: readonly string[]): readonly string[] {
  return within === undefined ? folders : folders.map((folder) => posix.resolve(folder, within))
}
