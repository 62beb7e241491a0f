import { stripEnd } from '../lines/fold-line.ts'
import type { FoldedText } from '../lines/folded-text.ts'
import type { Edit, Replacement } from './edit.ts'
import { findPlaces } from './find-places.ts'

/**
 * Where the old text stands in a folded text, both folded in the same way: blanks at line ends do not count, nor what
 * `fold` takes away. The places are those of the text as it is, not as it was folded.
 */
export function findFolded(source: FoldedText, edit: Edit, fold: (text: string) => string): Replacement[] {
  const { oldText, newText: text, replaceAll = false } = edit
  const lines = fold(oldText).split('\n')
  const last = lines.pop()!
  const head = lines.map((line) => `${stripEnd(line)}\n`).join('')
  const whole = head + last
  const places = findPlaces(source.text, whole, replaceAll)
  if (places.length > 0) {
    return places.map((at) => ({ start: source.original(at), end: source.original(at + whole.length), text }))
  }

  // Blanks at the end of the old text may be too many, but only where the line in the file ends, too.
  const wanted = head + stripEnd(last)
  if (wanted === whole) return []
  return findPlaces(source.text, wanted, replaceAll)
    .filter((at) => isLineEnd(source.text, at + wanted.length))
    .map((at) => ({ start: source.original(at), end: source.originalLineEnd(at + wanted.length), text }))
}

function isLineEnd(text: string, index: number): boolean {
  return index === text.length || text[index] === '\n'
}
