import type { CommandReading } from './reading.ts'

/** Where one command may end and another begin, as far as can be told without a parser. */
const SEPARATORS = /[;&|<>`$(){}'"\\\n\r]+/

/** A line nobody has read: split at what separates commands, so that a deny has something to match, and never certain. */
export function readRoughly(text: string): CommandReading {
  if (text.includes('\0'))
    return { parts: [], doubts: [{ kind: 'refused', reason: 'it has a NUL character, where the line would end' }] }
  const pieces = text.split(SEPARATORS).map((piece) => piece.split(/[ \t]+/).filter(Boolean))
  const parts = pieces.filter((words, index) => index === 0 || words.length > 0)
  return {
    parts: parts.map((words) => ({ words, text: words.join(' '), through: [], paths: [], doubts: [] })),
    doubts: [{ kind: 'unread', reason: 'no parser has read it' }],
  }
}
