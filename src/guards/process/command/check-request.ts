import type { CommandRequest } from '../../../contracts/commands.ts'
import { ToolError } from '../../../errors.ts'
import { LONE_SURROGATE } from '../../../value/lone-surrogate.ts'

// What Linux takes: a word with its end, and words and variables together with room for the jail's own.
const MOST_WORD_BYTES = 128 * 1024 - 1
const MOST_BYTES = 1024 * 1024

/** Refuses what no system could start, or would start as something else than was judged. */
export function checkRequest({ argv, command, env = {}, stdin, timeoutMs }: CommandRequest): void {
  if ((argv === undefined) === (command === undefined)) {
    throw invalid('A command is either argv, a list of words, or command, a line for bash.')
  }
  if (argv !== undefined) checkWords(argv)
  if (command !== undefined) checkLine(command)
  let bytes = (argv ?? [command!]).reduce((sum, word) => sum + Buffer.byteLength(word) + 1, 0)
  for (const [name, value] of Object.entries(env)) {
    checkWord(value, `The variable ${JSON.stringify(name.slice(0, 100))}`)
    bytes += Buffer.byteLength(name) + Buffer.byteLength(value) + 2
  }
  if (bytes > MOST_BYTES) throw invalid(`Words and variables have ${bytes} bytes, the limit is ${MOST_BYTES}.`)
  if (stdin !== undefined && typeof stdin !== 'string') throw invalid('stdin is a text.')
  if (!(timeoutMs > 0)) throw invalid(`timeoutMs is ${timeoutMs}, which is no time at all.`)
}

function checkWords(argv: readonly string[]): void {
  if (!Array.isArray(argv) || argv.length === 0) throw invalid('argv is a list of at least one word: the program.')
  for (const [index, word] of argv.entries()) checkWord(word, `Word ${index + 1} of argv`)
  if (argv[0] === '') throw invalid('The first word of argv is empty; it is the name of the program.')
}

function checkLine(command: string): void {
  checkWord(command, 'The command')
  if (command.trim() === '') throw invalid('The command is empty.')
}

function checkWord(word: string, what: string): void {
  if (typeof word !== 'string') throw invalid(`${what} is no text.`)
  if (word.includes('\0')) throw invalid(`${what} has a NUL character, which no command can be given.`)
  if (LONE_SURROGATE.test(word)) throw invalid(`${what} has half a character (a lone surrogate).`)
  const bytes = Buffer.byteLength(word)
  if (bytes <= MOST_WORD_BYTES) return
  throw invalid(`${what} has ${bytes} bytes, the limit is ${MOST_WORD_BYTES}.`, {
    hint: 'Write long text to a file, or give it as stdin.',
  })
}

function invalid(message: string, options?: { readonly hint: string }): ToolError {
  return new ToolError('INPUT_SCHEMA_INVALID', message, options)
}
