import { compileGlob, type GlobTest } from './glob.ts'

/** What rules say about a path: leave it out, keep it whatever weaker rules say, or (undefined) nothing. */
export type Verdict = 'ignore' | 'keep'

/** One line of a .gitignore file, taken apart. */
export interface IgnoreLine {
  /** Without its marks: no leading `!` or `/`, no trailing `/`. */
  readonly glob: string
  readonly isKept: boolean
  readonly isFolderOnly: boolean
  /** Matches from the folder of the rules on, not at any depth. */
  readonly isAnchored: boolean
}

/** The rules of one .gitignore file, paths relative to its folder. */
export type IgnoreRules = (path: string, isFolder: boolean) => Verdict | undefined

/** Compiles rules: the last line that matches decides. Lines that cannot be read say nothing, as in git. */
export function compileIgnoreRules(text: string): IgnoreRules {
  const rules = text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .flatMap((line) => compileLine(line) ?? [])
  return (path, isFolder) => {
    const decisive = rules.findLast((rule) => (isFolder || !rule.isFolderOnly) && rule.test(path))
    return decisive && (decisive.isKept ? 'keep' : 'ignore')
  }
}

/** Takes one line apart; undefined for a comment and an empty line. */
export function readIgnoreLine(line: string): IgnoreLine | undefined {
  let glob = line.endsWith('\\ ') ? line : line.trimEnd()
  if (glob === '' || glob.startsWith('#')) return undefined
  const isKept = glob.startsWith('!')
  if (isKept || /^\\[!#]/.test(glob)) glob = glob.slice(1)
  const isRooted = glob.startsWith('/')
  if (isRooted) glob = glob.slice(1)
  const isFolderOnly = glob.endsWith('/')
  if (isFolderOnly) glob = glob.slice(0, -1)
  return { glob, isKept, isFolderOnly, isAnchored: isRooted || glob.includes('/') }
}

function compileLine(line: string): { test: GlobTest; isKept: boolean; isFolderOnly: boolean } | undefined {
  const read = readIgnoreLine(line)
  if (!read) return undefined
  const anchored = read.isAnchored ? read.glob : `**/${read.glob}`
  try {
    // `a/**` means what is inside of a, not a itself.
    const test = compileGlob(anchored.endsWith('/**') ? `${anchored}/*` : anchored)
    return { test, isKept: read.isKept, isFolderOnly: read.isFolderOnly }
  } catch {
    // The line comes from a file in the tree: a broken one must not end the search.
    return undefined
  }
}
