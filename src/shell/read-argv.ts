import { findOddCharacters } from './odd-characters.ts'
import { finishReading, unreadable } from './read-command-line.ts'
import { staticWord } from './read-word.ts'
import type { AskSecondParser, CommandPlace, CommandReading } from './reading.ts'
import { ShellReader, showWords } from './shell-reader.ts'

const MAX_LENGTH = 65_536

/** Reads the words of a command that runs without a shell; what it carries out is found all the same. */
export function readArgv(argv: readonly string[], place: CommandPlace, ask?: AskSecondParser): CommandReading {
  if (argv.length === 0 || argv[0] === '') return unreadable('it names no program')
  if (argv.some((word) => word.includes('\0'))) return unreadable('it has a NUL character, where a word would end')
  const reader = new ShellReader(ask)
  const words = argv.map(staticWord)
  const text = showWords(words)
  const odd = findOddCharacters(text)
  if (odd !== undefined) reader.unread(odd)
  if (text.length > MAX_LENGTH)
    reader.unread(`it has ${text.length} characters, the most that are read are ${MAX_LENGTH}`)
  else reader.take({ words, text, doubts: [] }, { through: [], doubts: [] })
  return finishReading(reader, place, text)
}
