import type { Assignment } from 'unbash'
import { isCodeVariable } from './code-variables.ts'
import { hidden, reach } from './doubt.ts'
import { readWord } from './read-word.ts'
import type { Doubt } from './reading.ts'

/** What is doubtful about `A=b`; a text with a substitution in it may run later: as a prompt, in arithmetic. */
export function assignmentDoubts({ name, value }: Assignment, hasCommand: boolean): Doubt[] {
  const reason = hasCommand ? `it is given ${name}` : `it sets ${name}`
  const doubts = [isCodeVariable(name) ? hidden(reason) : reach(reason)]
  const texts = value.type === 'Word' ? [value] : value.elements
  if (texts.some((word) => /\$\(|`/.test(readWord(word)[0]?.value ?? '')))
    doubts.push(hidden(`${name} holds text that could run later`))
  return doubts
}
