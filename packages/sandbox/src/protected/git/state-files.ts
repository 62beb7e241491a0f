import { readGitSettings } from './config-file.ts'
import { ENTRY_MODES, entryPathProblem, foldGitPath } from './entry-path.ts'

/** Returns whether git and its prompt run nothing, and write nothing elsewhere, because of this text. */
type Judge = (text: string) => boolean

/** Enough for the remaining steps of a rebase of some ten thousand commits. */
export const MAX_STATE_BYTES = 1024 ** 2

/** Commands of a rebase that start no program; `exec` is not among them. */
const COMMANDS = new Set([
  ...['pick', 'p', 'reword', 'r', 'edit', 'e', 'squash', 's', 'fixup', 'f', 'drop', 'd', 'noop', 'break', 'b'],
  ...['label', 'l', 'reset', 't', 'merge', 'm', 'update-ref', 'u', 'revert'],
])
/** Git runs `git-merge-NAME` for any other. */
const STRATEGIES = new Set(['ort', 'recursive', 'resolve', 'octopus', 'ours', 'subtree'])
const OPTIONS = new Set([
  ...['no-commit', 'allow-empty', 'allow-empty-message', 'drop-redundant-commits', 'keep-redundant-commits', 'edit'],
  ...['signoff', 'record-origin', 'allow-ff', 'mainline', 'strategy', 'gpg-sign', 'strategy-option'],
  ...['allow-rerere-auto', 'default-msg-cleanup', 'default-msg-cleanup-mode'],
])
const APPLY_OPTIONS =
  /^(\s+'(-C\d+|-p\d+|--whitespace=[\w-]+|--ignore-whitespace|--ignore-space-change|--reject|--(ex|in)clude=[^'\\]+)')*\s*$/

/** `git status` prints some lines of these as they are, and terminals obey control characters. */
const isPrintable: Judge = (text) => !/[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/.test(text)
const isHarmlessTodo: Judge = (text) => isPrintable(text) && text.split('\n').every(isHarmlessLine)
/** The prompt that comes with git has them expanded by bash, which runs `$(program)`. */
const isNumber: Judge = (text) => /^ *\d*\n?$/.test(text)
const isBranch: Judge = (text) => /^(refs\/[^ ]+|detached HEAD)?$/.test(text.trimEnd()) && isPrintable(text)
/** `git bisect reset` checks it out: it must be no option. */
const isCommit: Judge = (text) => /^(?!-)[^ ]*$/.test(text.trimEnd()) && isPrintable(text)
const isHash: Judge = (text) => /^([0-9a-f]{40,64})?\n?$/.test(text)
const isStrategy: Judge = (text) => STRATEGIES.has(text.trim())
const areOptions: Judge = (text) =>
  [...readGitSettings(text)].every((setting) => {
    if (setting === 'unreadable' || setting.section !== 'options' || !OPTIONS.has(setting.key)) return false
    return setting.key !== 'strategy' || isStrategy(setting.value)
  })

/** Paths that limit a bisection: a shell could run anything else that is written there. */
const QUOTED_WORDS = /^(\s*'([^']|'\\'')*')*\s*$/
/** `git rerere` keeps the content of the paths in this list, which end with a NUL character. */
const areConflicts: Judge = (text) =>
  text.split('\0').every((line) => {
    if (line === '') return true
    const [, path] = /^[0-9a-f]{40,64}(?:\.\d+)?\t(.+)$/s.exec(line) ?? []
    if (path === undefined) return false
    const bytes = Buffer.from(path)
    return entryPathProblem(bytes, bytes.length, ENTRY_MODES.file) === undefined
  })

/**
 * Where git stores, below a git folder, the state of an interrupted operation. `git rebase --continue` runs the steps that
 * are stored there, no matter who wrote them, and the prompt of a shell shows how many there are.
 */
export const STATE_FILES: ReadonlyMap<string, Judge> = new Map([
  ['rebase-merge/git-rebase-todo', isHarmlessTodo],
  ['rebase-merge/strategy', isStrategy],
  ['rebase-apply/apply-opt', (text) => APPLY_OPTIONS.test(` ${text}`)],
  ['sequencer/opts', areOptions],
  ['sequencer/todo', isHarmlessTodo],
  ['rebase-merge/done', isPrintable],
  ['rebase-merge/msgnum', isNumber],
  ['rebase-merge/end', isNumber],
  ['rebase-apply/next', isNumber],
  ['rebase-apply/last', isNumber],
  ['rebase-merge/head-name', isBranch],
  ['rebase-apply/head-name', isBranch],
  ['rebase-merge/onto', isHash],
  ['rebase-apply/onto', isHash],
  ['BISECT_START', isCommit],
  ['BISECT_NAMES', (text) => QUOTED_WORDS.test(text)],
  ['MERGE_RR', areConflicts],
])

/** The check for the text of such a file, by its path in the git folder; undefined for any other file. */
export function judgeOfState(path: string): Judge | undefined {
  return STATE_FILES.get(path) ?? STATE_FILES.get(foldGitPath(path))
}

function isHarmlessLine(line: string): boolean {
  const [word = ''] = line.trimStart().split(/[\s\0]/)
  // Every command begins with a letter: anything else is a comment, or an error.
  return word === '' || !/^[a-z]/i.test(word) || COMMANDS.has(word)
}
