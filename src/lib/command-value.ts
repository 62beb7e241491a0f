import type { CommandLine } from '../core/commands.ts'

const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/
const FIRST_PLAIN = /^[A-Za-z0-9_@%+:,./-]+$/
// As the first word bash would take these for its grammar, where a program of that name is meant.
const RESERVED = new Set(
  'if then else elif fi case esac for select while until do done in function time coproc'.split(' '),
)

/** A command as one text, the same for the rule that judges it and the guard that runs it: words are quoted as bash would need them. */
export function commandValue(line: CommandLine): string {
  if (line.argv === undefined) return line.command
  return line.argv.map((word, index) => (isPlain(word, index) ? word : quoted(word))).join(' ')
}

function isPlain(word: string, index: number): boolean {
  return index > 0 ? PLAIN.test(word) : FIRST_PLAIN.test(word) && !RESERVED.has(word)
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}
