import { findRuns } from '../lines/find-runs.ts'
import { bareLines, indentOf, stripEnd } from '../lines/fold-line.ts'
import { type Edit, MOST_PLACES, type Replacement } from './edit.ts'
import type { EditSource } from './edit-source.ts'

/** Enough to say that a text is not unique; each is compared line by line. */
const MOST_COUNTED = 20

/**
 * Where the lines of the old text stand, indented in another way. Each indentation of the old text must mean one and
 * the same in the file; the new text is then indented like the file.
 */
export function findIndented(source: EditSource, { oldText, newText, replaceAll = false }: Edit): Replacement[] {
  const { lines } = source
  const wanted = oldText.split('\n')
  const isClosed = wanted.at(-1) === ''
  if (isClosed) wanted.pop()
  const bare = bareLines(wanted.join('\n'))
  if (bare.every((line) => line === '')) return []

  const starts = lineStarts(lines)
  const options = { mayOverlap: !replaceAll, most: replaceAll ? MOST_PLACES + 1 : MOST_COUNTED }
  return findRuns(source.bareLines, bare, options).flatMap((first) => {
    const next = first + wanted.length
    const indents = pairIndents(wanted, lines.slice(first, next))
    // The last line of a file has no line end that could be replaced.
    if (!indents || (isClosed && next === lines.length)) return []
    const end = isClosed ? starts[next]! : starts[next - 1]! + stripEnd(lines[next - 1]!).length
    return [{ start: starts[first]!, end, text: indentLike(newText, indents) }]
  })
}

function lineStarts(lines: readonly string[]): number[] {
  let next = 0
  return lines.map((line) => {
    const start = next
    next += line.length + 1
    return start
  })
}

/** What each indentation of the old text is in the file; nothing when one would be two. */
function pairIndents(wanted: readonly string[], lines: readonly string[]): ReadonlyMap<string, string> | undefined {
  const indents = new Map<string, string>()
  for (const [index, line] of wanted.entries()) {
    if (stripEnd(line) === '') continue
    const indent = indentOf(line)
    const known = indents.get(indent)
    const own = indentOf(lines[index]!)
    if (known !== undefined && known !== own) return undefined
    indents.set(indent, own)
  }
  return indents
}

function indentLike(text: string, indents: ReadonlyMap<string, string>): string {
  const known = [...indents.keys()].sort((left, right) => right.length - left.length)
  const lines = text.split('\n').map((line) => {
    const indent = indentOf(line)
    if (indent.length === line.length) return line
    const nearest = known.find((key) => indent.startsWith(key))
    return nearest === undefined ? line : indents.get(nearest) + line.slice(nearest.length)
  })
  return lines.join('\n')
}
