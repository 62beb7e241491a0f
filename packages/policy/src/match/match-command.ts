import { baseName, type CommandPart, isLike, readLoosely } from '@tool-hub/shell'
import { ANY_KEY, type BrokenPattern, type Pattern, type PolicyTarget } from './target.ts'

/** Characters that have a meaning in a shell, or are invisible: no word of a pattern has them. */
const SHELL_CHARACTERS = /[;&|<>`$(){}'"\\*?[\]~#!\p{Cf}\p{Zl}\p{Zp}\x00-\x08\x0a-\x1f\x7f-\x9f]/u

const PROGRAMS =
  'ls dir cat head tail wc nl tac rev cut uniq tr fold fmt paste column comm join expand unexpand cmp diff stat du df file ' +
  'readlink realpath basename dirname tree md5sum sha1sum sha256sum sha512sum cksum od hexdump strings grep egrep fgrep rg ' +
  'find fd sort jq pwd whoami id uname nproc date echo printf true false test which type seq expr cd'
const GIT_COMMANDS =
  'status log diff show blame grep ls-files ls-tree cat-file rev-parse rev-list describe shortlog merge-base branch tag remote reflog'

/**
 * Reads a command pattern: plain words. A trailing ` *` means zero or more further words, without it the command is exact.
 * A pattern that permits matches only these very words. One that restricts matches what means the same: the program in
 * whatever folder, its options in whatever order and spelling.
 */
export function compileCommandPattern(text: string, isGrant = false): Pattern | BrokenPattern {
  if (isGrant && text.startsWith(SHAPE)) return compileShape(text.slice(SHAPE.length))
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
    exactKey: words.length > 1 ? `${name} ${words[1]}` : undefined,
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

/** How the pattern of a grant begins. In rules it is not a plain word. */
export const SHAPE = '= '

/** Commands of exactly this form: the same words, except files and messages. */
function compileShape(shape: string): Pattern {
  const [program = ''] = shape.split(' ', 1)
  return {
    key: baseName(program),
    // Every word is spelt out: those that vary are never what a doubt is about.
    words: Number.POSITIVE_INFINITY,
    matches: ({ command }, broadly) => !broadly && !command?.isWorstCase && command?.shape === shape,
  }
}

/** A part of a command line for rules to be compared with. */
export function readPatternPart({ words, text, shape }: Pick<CommandPart, 'words' | 'text' | 'shape'>): PolicyTarget {
  const loose = readLoosely(words)
  const keys = loose.program === undefined ? [ANY_KEY] : [ANY_KEY, loose.program]
  if (words[0] !== undefined && words[1] !== undefined) keys.push(`${words[0]} ${words[1]}`)
  return { kind: 'command', value: text, keys, command: { words, loose, shape } }
}

/** The same target in the worst case: patterns that permit do not match it, those that restrict do if they could. */
export function inWorstCase(target: PolicyTarget): PolicyTarget {
  return { ...target, command: target.command && { ...target.command, isWorstCase: true } }
}

/** A pattern for exactly this part; `undefined` if there is none. */
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

/**
 * Named lists of command patterns, for `on` and `except`. `group:read-only`: commands that only read and print. An option by
 * which one of them would write a file, run a program or reach beyond the roots is known to the shell policy: an allow of
 * the group does not cover it, and neither does it cover a redirection to a file.
 */
export const COMMAND_GROUPS: ReadonlyMap<string, readonly string[]> = new Map([
  [
    'group:read-only',
    [
      ...PROGRAMS.split(' ').map((program) => `${program} *`),
      'sed -n *',
      ...GIT_COMMANDS.split(' ').map((command) => `git ${command} *`),
      'git stash list *',
      'git worktree list *',
    ],
  ],
])
