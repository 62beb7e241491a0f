import type { PatchChunk } from './patch.ts'
import { placeChunks } from './place-chunks.ts'

/** A text after its chunks were applied, and how many lines came and went. */
export interface UpdatedText {
  readonly text: string
  readonly added: number
  readonly removed: number
}

/** A line and how it ends; nothing for the last line of a text without a line end. */
interface FileLine {
  readonly text: string
  readonly end: string
}

/** Applies the chunks of a patch. Lines that stay, also those the patch shows as context, keep every byte. */
export function updateText(text: string, chunks: readonly PatchChunk[], path: string): UpdatedText {
  const lines = splitLines(text)
  const places = placeChunks(
    lines.map((line) => line.text),
    chunks,
    path,
  )
  const result: FileLine[] = []
  let [from, added, removed] = [0, 0, 0]
  for (const [index, chunk] of chunks.entries()) {
    for (; from < places[index]!; from++) result.push(lines[from]!)
    for (const { sign, text: own } of chunk.lines) {
      if (sign === '+') result.push({ text: own, end: lines[from - 1]?.end || lines[from]?.end || '\n' })
      if (sign === ' ') result.push(lines[from]!)
      if (sign === '+') added++
      else from++
      if (sign === '-') removed++
    }
  }
  for (; from < lines.length; from++) result.push(lines[from]!)
  return { text: joinLines(result, lines.at(-1)?.end !== ''), added, removed }
}

function splitLines(text: string): FileLine[] {
  const parts = text.split('\n')
  const last = parts.pop()!
  const lines = parts.map((part) =>
    part.endsWith('\r') ? { text: part.slice(0, -1), end: '\r\n' } : { text: part, end: '\n' },
  )
  return last === '' ? lines : [...lines, { text: last, end: '' }]
}

/** A text that ended without a line end still does. */
function joinLines(lines: readonly FileLine[], isClosed: boolean): string {
  const parts = lines.map(({ text, end }, index) => {
    if (index === lines.length - 1) return isClosed ? text + (end || '\n') : text
    return text + (end || lines[index - 1]?.end || '\n')
  })
  return parts.join('')
}
