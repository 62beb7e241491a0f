import { basename, dirname } from 'node:path'
import { readGitSettings } from './git-folder.ts'

/** Returns whether git runs nothing, and writes nothing elsewhere, because of this text. */
type Judge = (text: string) => boolean

/** A list of what is left of a rebase, of the size that git makes for some ten thousand commits. */
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

const isHarmlessTodo: Judge = (text) => text.split('\n').every(isHarmlessLine)
const isStrategy: Judge = (text) => STRATEGIES.has(text.trim())
const areOptions: Judge = (text) =>
  [...readGitSettings(text)].every((setting) => {
    if (setting === 'unreadable' || setting.section !== 'options' || !OPTIONS.has(setting.key)) return false
    return setting.key !== 'strategy' || isStrategy(setting.value)
  })

/**
 * Where git notes, below a folder of its own, what is left to do of an operation that has stopped. `git rebase --continue`
 * runs what is noted there, no matter who noted it.
 */
const STATE: Readonly<Record<string, Readonly<Record<string, Judge>>>> = {
  'rebase-merge': { 'git-rebase-todo': isHarmlessTodo, strategy: isStrategy },
  'rebase-apply': { 'apply-opt': (text) => APPLY_OPTIONS.test(` ${text}`) },
  sequencer: { opts: areOptions, todo: isHarmlessTodo },
}

/** Whether a folder of git with this name holds the notes of an operation that has stopped. */
export function isStateFolder(name: string): boolean {
  return Object.hasOwn(STATE, name.toLowerCase())
}

/** The notes that make git run something, as paths from the folder of git; `folders` are the names in it. */
export function stateFilesIn(folders: Iterable<string>): string[] {
  return [...folders].filter(isStateFolder).flatMap((folder) => {
    return Object.keys(STATE[folder.toLowerCase()]!).map((file) => `${folder}/${file}`)
  })
}

/** The check for the text of such a note; undefined for any other file. */
export function judgeOfState(path: string): Judge | undefined {
  const folder = basename(dirname(path)).toLowerCase()
  const name = basename(path).toLowerCase()
  return Object.hasOwn(STATE, folder) && Object.hasOwn(STATE[folder]!, name) ? STATE[folder]![name] : undefined
}

function isHarmlessLine(line: string): boolean {
  const [word = ''] = line.trimStart().split(/[\s\0]/)
  // No command begins with another character than a letter: it is a comment, or an error.
  return word === '' || !/^[a-z]/i.test(word) || COMMANDS.has(word)
}
