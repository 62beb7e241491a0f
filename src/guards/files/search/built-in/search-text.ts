import type { MatchedLine } from '../engine.ts'
import { excerpt } from '../excerpt.ts'
import type { SearchJob } from '../search-job.ts'
import type { Finder } from './line-finder.ts'

/** The lines of a text: where each begins, and where the next would. */
interface Lines {
  readonly text: string
  readonly starts: readonly number[]
}

/** Looks for a pattern in a text, as far as the job wants to know; undefined when it is not there. */
export function searchText(
  text: string,
  finder: Finder,
  job: SearchJob,
): { matches: number; lines: MatchedLine[] } | undefined {
  if (!finder.mayBeIn(text)) return undefined
  const most = { lines: job.maxMatches + 1, files: 1, counts: Number.POSITIVE_INFINITY }[job.output]
  const lines = cutLines(text)
  const found = job.multiline ? findBlocks(lines, finder, job.pattern, most) : findLines(lines, finder, most)
  if (found.size === 0) return undefined
  return { matches: found.size, lines: job.output === 'lines' ? withContext(lines, found, job.contextLines) : [] }
}

function cutLines(text: string): Lines {
  const starts: number[] = []
  for (let from = 0; from < text.length; ) {
    starts.push(from)
    const end = text.indexOf('\n', from)
    if (end === -1) break
    from = end + 1
  }
  return { text, starts }
}

/** A line without its end. */
function lineAt({ text, starts }: Lines, index: number): string {
  const next = starts[index + 1]
  const line = text.slice(starts[index], next === undefined ? undefined : next - 1)
  // The last line may have an end, too.
  return line.replace(/\r?\n$|\r$/, '')
}

/** The matching lines by their index, with the place of the match in each. */
function findLines(lines: Lines, finder: Finder, most: number): Map<number, number> {
  const found = new Map<number, number>()
  for (let index = 0; index < lines.starts.length && found.size < most; index += 1) {
    const at = finder.inLine(lineAt(lines, index))
    if (at !== -1) found.set(index, at)
  }
  return found
}

/** Like findLines, for matches that may go over several lines. */
function findBlocks(lines: Lines, finder: Finder, pattern: string, most: number): Map<number, number> {
  const found = new Map<number, number>()
  // `$` stands before `\r\n`, too. Lines stay lines, so their numbers still hold.
  const isPlain = /\r|\\r/.test(pattern)
  const text = isPlain ? lines.text : lines.text.replaceAll('\r\n', '\n')
  const { starts } = isPlain || text.length === lines.text.length ? lines : cutLines(text)
  let index = 0
  // After the last line, `starts` has no entry, and every comparison with `undefined` is false.
  for (const { start, end } of finder.inText(text)) {
    while (starts[index + 1]! <= start) index += 1
    // A match at the very end, after the last line end, is on no line.
    if (start >= text.length && (text.endsWith('\n') || text === '')) break
    for (let each = index; each === index || starts[each]! < end; each += 1) {
      if (!found.has(each)) found.set(each, Math.max(0, start - starts[each]!))
      if (found.size >= most) return found
    }
  }
  return found
}

function withContext(lines: Lines, found: ReadonlyMap<number, number>, context: number): MatchedLine[] {
  const result: MatchedLine[] = []
  let next = 0
  for (const index of found.keys()) {
    const last = Math.min(index + context, lines.starts.length - 1)
    for (let each = Math.max(next, index - context); each <= last; each += 1) {
      const matchStart = found.get(each)
      result.push({ line: each + 1, text: excerpt(lineAt(lines, each), matchStart), isMatch: matchStart !== undefined })
    }
    next = Math.max(next, last + 1)
  }
  return result
}
