import { baseName } from './base-name.ts'
import type { Draft } from './shell-reader.ts'

/** Where relative paths of a line point: its folder, some folder below the roots, or nobody knows. */
export type Moves = 'none' | 'below' | 'unknown'

/** What the `cd` of a line do to the paths of all its commands: in a loop, what stands later comes first. */
export function findMoves(drafts: readonly Draft[], isInside: (path: string) => boolean): Moves {
  let moves: Moves = 'none'
  for (const { words } of drafts) {
    const name = words[0]?.value
    if (name === undefined || !/^(cd|pushd|popd)$/.test(baseName(name))) continue
    const [target, ...more] = words.slice(1).filter(({ value }) => value !== '--')
    const path = target?.value
    if (more.length > 0 || path === undefined || isElsewhere(path, isInside)) return 'unknown'
    moves = 'below'
  }
  return moves
}

/** Up, home, back, along the directory stack, or to a place outside. */
function isElsewhere(path: string, isInside: (path: string) => boolean): boolean {
  if (/^[-+~]|^$/.test(path) || path.split('/').includes('..')) return true
  return path.startsWith('/') && !isInside(path)
}
