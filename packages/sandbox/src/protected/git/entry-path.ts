import { foldName } from '../names/index.ts'

/** The modes of entries in an index; a folder is one only in a sparse index. */
export const ENTRY_MODES = { file: 0o100644, program: 0o100755, link: 0o120000, submodule: 0o160000, folder: 0o040000 }

const SLASH = 0x2f
const BACKSLASH = 0x5c
const DOT = 0x2e
const COLON = 0x3a
/** `g` and `G`: a short name of `.git` on Windows begins with it. */
const G = new Set([0x67, 0x47])

/**
 * Returns why git would not have added an entry with this path, or `undefined` if it would. Git checks paths when it adds
 * entries, not when it reads an index: it writes `../x`, `/x` and `.git/hooks/x` wherever an index names them.
 */
export function entryPathProblem(path: Buffer, length: number, mode: number): string | undefined {
  let start = 0
  let isPlain = true
  for (let at = 0; at <= length; at++) {
    const byte = at === length ? SLASH : path[at]!
    if (byte === 0) return 'a name with a NUL character'
    if (byte < 0x20 && mode === ENTRY_MODES.submodule) return 'a control character, as a submodule'
    if (byte >= 0x80 || byte === BACKSLASH || byte === COLON) isPlain = false
    if (byte !== SLASH) continue
    // Only a folder of a sparse index ends in a slash.
    if (at === start) return at === length && at > 0 && mode === ENTRY_MODES.folder ? undefined : 'an empty name'
    const first = path[start]!
    if (!isPlain || first === DOT || G.has(first)) {
      const problem = namesProblem(path.toString('utf8', start, at), mode)
      if (problem !== undefined) return problem
    }
    start = at + 1
    isPlain = true
  }
  return mode === ENTRY_MODES.folder ? 'a folder without a slash at its end' : undefined
}

/** Windows separates names with a backslash, too, and calls streams of a file `NAME:STREAM`. */
function namesProblem(component: string, mode: number): string | undefined {
  for (const part of component.split('\\')) {
    if (part === '.' || part === '..') return `the name ${part}`
    const name = foldName(part.replace(/:.*$/s, ''))
    if (name === '.git') return `the name ${part}, which means .git`
    if (mode === ENTRY_MODES.link && name === '.gitmodules') return 'a link named .gitmodules'
  }
  return undefined
}

/** The path as disks see it that ignore case: to some of them, a long s is an s. */
export function foldGitPath(path: string): string {
  return path.normalize('NFKC').toLowerCase()
}
