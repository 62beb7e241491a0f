import { ANY_KEY, type BrokenPattern, type CommandParts, type Pattern, type Target } from './target.ts'

/** Characters by which a shell could make more of a line than its words say; blanks and tabs only separate words. */
const SHELL_CHARACTERS = /[;&|<>`$(){}'"\\*?[\]~#!=\p{Cf}\p{Zl}\p{Zp}\x00-\x08\x0a-\x1f\x7f-\x9f]+/u

/**
 * Reads a command pattern: plain words. A trailing ` *` means zero or more further words, without it the command is exact.
 * On a command with shell characters a pattern that permits never matches; one that restricts matches when its words
 * begin any piece between those characters.
 */
export function compileCommandPattern(text: string): Pattern | BrokenPattern {
  const words = splitWords(text)
  const isOpen = words.at(-1) === '*'
  if (isOpen) words.pop()
  if (words.length === 0 && !isOpen) return { broken: 'a command pattern needs at least one word' }
  const odd = words.find((word) => SHELL_CHARACTERS.test(word))
  if (odd !== undefined)
    return { broken: `${odd} is not a plain word; only a last, separate * stands for further words` }
  return {
    key: prefixKey(words, words.length),
    matches: ({ command }, broadly) => command !== undefined && fits(command, words, isOpen, broadly),
  }
}

/** Reads a raw command line. */
export function readCommand(value: string): Target {
  const words = splitWords(value)
  if (!SHELL_CHARACTERS.test(value))
    return { kind: 'command', value, keys: [...new Set(prefixKeys(words))], command: { words } }
  const pieces = value.split(SHELL_CHARACTERS).map(splitWords)
  const keys = new Set([ANY_KEY, ...pieces.flatMap(prefixKeys)])
  return { kind: 'command', value, keys: [...keys], command: { words, pieces } }
}

/** A pattern for this very command; none when it has shell characters. */
export function commandAsPattern(value: string): string | undefined {
  const words = splitWords(value)
  return words.length === 0 || SHELL_CHARACTERS.test(value) ? undefined : words.join(' ')
}

function fits({ words, pieces }: CommandParts, wanted: readonly string[], isOpen: boolean, broadly: boolean): boolean {
  if (pieces !== undefined) return broadly && pieces.some((piece) => beginsWith(piece, wanted))
  return (isOpen || words.length === wanted.length) && beginsWith(words, wanted)
}

function beginsWith(words: readonly string[], wanted: readonly string[]): boolean {
  return wanted.every((word, index) => words[index] === word)
}

/** Patterns are filed by their first words, so that a hundred rules about one program cost no more than one. */
const KEY_WORDS = 3

function prefixKey(words: readonly string[], count: number): string {
  return words.slice(0, Math.min(count, KEY_WORDS)).join(' ') || ANY_KEY
}

function prefixKeys(words: readonly string[]): string[] {
  return Array.from({ length: Math.min(words.length, KEY_WORDS) + 1 }, (_, count) => prefixKey(words, count))
}

function splitWords(text: string): string[] {
  return text.split(/[ \t]+/).filter(Boolean)
}
