import { ToolError } from '../../errors.ts'

const MOST_WORDS = 32
const LONGEST_WORD = 200

/** Text in the form that is searched: large and small letters are the same, and it holds no NUL. */
export function foldText(text: string): string {
  return text.toLowerCase().replaceAll('\0', '\ufffd')
}

/** The words of a query as they are looked for; too many or too long ones are refused, empty ones left out. */
export function foldWords(words: readonly string[]): readonly string[] {
  if (words.length > MOST_WORDS) throw refuse(`A search has at most ${MOST_WORDS} words, not ${words.length}.`)
  const longest = Math.max(0, ...words.map(({ length }) => length))
  if (longest > LONGEST_WORD) throw refuse(`A word to look for has at most ${LONGEST_WORD} characters, not ${longest}.`)
  return words.map(foldText).filter((word) => word !== '')
}

function refuse(message: string): ToolError {
  return new ToolError('INPUT_SCHEMA_INVALID', message, { hint: 'Look for less.' })
}
