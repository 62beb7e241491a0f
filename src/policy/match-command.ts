import { baseName, type CommandPart, isLike, readLoosely } from '../shell/index.ts'
import { COMMAND_GROUPS } from './command-groups.ts'
import { ANY_KEY, type BrokenPattern, type Pattern, type PolicyTarget } from './target.ts'

/** Characters that mean something to a shell, or do not show: no word of a pattern has them. */
const SHELL_CHARACTERS = /[;&|<>`$(){}'"\\*?[\]~#!\p{Cf}\p{Zl}\p{Zp}\x00-\x08\x0a-\x1f\x7f-\x9f]/u

/**
 * Reads a command pattern: plain words. A trailing ` *` means zero or more further words, without it the command is exact.
 * A pattern that permits matches only these very words. One that restricts matches what means the same: the program in
 * whatever folder, its options in whatever order and spelling.
 */
export function compileCommandPattern(text: string): Pattern | BrokenPattern {
  const words = splitWords(text)
  const isOpen = words.at(-1) === '*'
  if (isOpen) words.pop()
  const [name] = words
  if (name === undefined && !isOpen) return { broken: 'a command pattern needs at least one word' }
  const odd = words.find((word) => SHELL_CHARACTERS.test(word)) ?? (name?.includes('=') ? name : undefined)
  if (name?.startsWith('group:'))
    return { broken: `the only group of commands is ${[...COMMAND_GROUPS.keys()].join(', ')}` }
  if (odd !== undefined)
    return { broken: `${odd} is not a plain word; only a last, separate * stands for further words` }
  const wanted = readLoosely(words)
  return {
    key: name === undefined ? ANY_KEY : baseName(name),
    words: words.length,
    matches({ command }, broadly) {
      if (command === undefined) return false
      const { loose, isWorstCase = false } = command
      if (broadly) return name === undefined || isLike(loose, wanted, isOpen, isWorstCase)
      if (isWorstCase) return false
      return (isOpen || command.words.length === words.length) && beginsWith(command.words, words)
    },
  }
}

/** A part of a command line for rules to be compared with. */
export function readPatternPart({ words, text }: Pick<CommandPart, 'words' | 'text'>): PolicyTarget {
  const loose = readLoosely(words)
  const keys = loose.program === undefined ? [ANY_KEY] : [ANY_KEY, loose.program]
  return { kind: 'command', value: text, keys, command: { words, loose } }
}

/** The same, taken for all it could be: what permits does not match it, what restricts does as soon as it could. */
export function inWorstCase(target: PolicyTarget): PolicyTarget {
  return { ...target, command: target.command && { ...target.command, isWorstCase: true } }
}

/** A pattern for this very part; none when a rule cannot say it. */
export function partAsPattern({ words }: Pick<CommandPart, 'words'>): string | undefined {
  const known = words.filter((word) => word !== undefined)
  if (known.length < words.length || known.some((word) => word === '' || /[ \t]/.test(word))) return undefined
  const text = known.join(' ')
  return text.endsWith(' *') || 'broken' in compileCommandPattern(text) ? undefined : text
}

function beginsWith(words: readonly (string | undefined)[], wanted: readonly string[]): boolean {
  return wanted.every((word, index) => words[index] === word)
}

function splitWords(text: string): string[] {
  return text.split(/[ \t]+/).filter(Boolean)
}
