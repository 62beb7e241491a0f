import type { Assignment, Command } from 'unbash'
import { readWord, type ShellWord, staticWord } from './read-word.ts'

/** The name of a command and its arguments. */
export function readCommandWords({ name, args }: Command): readonly ShellWord[] {
  const written = name ? [name, ...args] : args
  return written.flatMap((word) => (word.type === 'Word' ? readWord(word) : readAssignment(word)))
}

/** `A=b` among the arguments of `export`. */
function readAssignment({ name, value, append, text }: Assignment): ShellWord {
  const word = value.type === 'Word' ? readWord(value) : []
  const only = word.length === 1 ? word[0]!.value : undefined
  return only === undefined ? { value: undefined, source: text } : staticWord(`${name}${append ? '+' : ''}=${only}`)
}
