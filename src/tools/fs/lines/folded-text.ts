import { stripEnd } from './fold-line.ts'

/** A text whose lines were folded, and the way back to where everything stood. */
export interface FoldedText {
  readonly text: string
  /** The place in the original of a place in the folded text. */
  original(index: number): number
  /** The end of the original line, before its line end, that a place in the folded text is on. */
  originalLineEnd(index: number): number
}

/** Folds a text: blanks at line ends go, and `fold` may change characters, but neither how many there are nor line ends. */
export function foldLines(source: string, fold: (text: string) => string): FoldedText {
  const lines = fold(source).split('\n')
  const folded: string[] = new Array(lines.length)
  const starts = new Uint32Array(lines.length)
  const originals = new Uint32Array(lines.length)
  let start = 0
  let original = 0
  for (const [index, line] of lines.entries()) {
    folded[index] = stripEnd(line)
    starts[index] = start
    originals[index] = original
    start += folded[index]!.length + 1
    original += line.length + 1
  }

  return {
    text: folded.join('\n'),
    original(index) {
      const line = lineAt(starts, index)
      return originals[line]! + index - starts[line]!
    },
    originalLineEnd(index) {
      const line = lineAt(starts, index)
      const text = lines[line]!
      const isWindows = line < lines.length - 1 && text.endsWith('\r')
      return originals[line]! + text.length - (isWindows ? 1 : 0)
    },
  }
}

/** The last line that begins at or before a place. */
function lineAt(starts: Uint32Array, index: number): number {
  let low = 0
  let high = starts.length - 1
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if (starts[middle]! <= index) low = middle
    else high = middle - 1
  }
  return low
}
