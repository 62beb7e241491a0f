import type { ScriptReading } from './program-table.ts'

/** A path that git is asked for in a spelling of its own. */
export interface GitPath {
  /** Relative to the folder of the command, or to the top of the repository. */
  readonly path: string
  readonly isGlob: boolean
}

/** A revision may hold colons itself: `HEAD^{/fix: x}:a.txt`. */
const MAX_COLONS = 8

/**
 * Finds the files that an operand of git may stand for: `HEAD~1:a`, `:0:a`, `stash@{0}:a`, and pathspecs such as `:(top)a`,
 * `:/a` and `*.a`. What is left out (`:!a`) stands for none.
 */
export function readGitOperand(operand: string): readonly GitPath[] {
  const [, magic] = /^:\(([^)]*)\)/.exec(operand) ?? []
  if (/^:[!^]/.test(operand) || magic?.split(',').includes('exclude')) return []
  const texts = magic === undefined ? [operand, ...afterColons(operand)] : [operand.slice(magic.length + 3)]
  // Git may be told to ignore case; names of revisions are never files in any case.
  const spellings = new Set(texts.flatMap((text) => (/^[A-Z_]+$/.test(text) ? [text] : [text, text.toLowerCase()])))
  return [...spellings].filter(Boolean).map((text) => {
    // Only a pathspec such as `:/a` begins with a slash and stays in the repository.
    const path = text === operand ? text : text.replace(/^\/+/, '')
    return { path, isGlob: /[*?[\\]/.test(path) }
  })
}

/** `-L 1,5:FILE`, `-L :name:FILE`: the file whose lines are followed; `--find-object=HEAD:FILE`: one of a revision. */
export function readLineRange(range: string): ScriptReading {
  const paths = afterColons(range).slice(-1)
  return { hazards: [], paths }
}

function afterColons(text: string): string[] {
  return text
    .split(':')
    .slice(0, MAX_COLONS)
    .map((_, index, parts) => parts.slice(0, index + 1).join(':').length + 1)
    .map((start) => text.slice(start))
    .filter(Boolean)
}
