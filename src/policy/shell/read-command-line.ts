import { hidden } from './doubt.ts'
import { findFolders } from './find-folders.ts'
import { finishPart } from './finish-part.ts'
import { findOddCharacters } from './odd-characters.ts'
import type { AskSecondParser, CommandPlace, CommandReading } from './reading.ts'
import { markDownloads } from './risk.ts'
import { ShellReader } from './shell-reader.ts'

/** Reads the text that bash would be given: every simple command that it could run, with what is doubtful about it. */
export function readCommandLine(text: string, place: CommandPlace, ask?: AskSecondParser): CommandReading {
  if (text.includes('\0')) return refused('it has a NUL character, where the line would end')
  const reader = new ShellReader(ask)
  const odd = findOddCharacters(text)
  if (odd !== undefined) reader.unread(odd)
  reader.readText(text, { through: [], doubts: [] })
  return finishReading(reader, place, text)
}

/** The reading of what can never run. */
export function refused(reason: string): CommandReading {
  return { parts: [], doubts: [{ kind: 'refused', reason }] }
}

/** One is enough to ask; a hostile line could hold thousands. */
const MAX_EVALUATIONS = 8

/** What a reader has found, once it has read all. */
export function finishReading(reader: ShellReader, place: CommandPlace, text: string): CommandReading {
  const { drafts, doubts, functions, data } = reader
  // A comment, or nothing at all, is judged as a command without words.
  if (drafts.length === 0) drafts.push({ words: [], text, through: [], doubts: [] })
  for (const { text: evaluated, reason } of data.findEvaluations(functions).slice(0, MAX_EVALUATIONS))
    drafts.push({ words: [], text: evaluated, through: [], doubts: [hidden(reason)] })
  const folders = findFolders(drafts, place)
  const parts = drafts.map((draft) => finishPart(draft, { place, folders, functions }))
  return { parts: markDownloads(parts), doubts }
}
