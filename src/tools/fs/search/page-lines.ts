import type { FoundLine } from '../../../contracts/handles.ts'

/** A part of the found lines. */
export interface LinesPage {
  readonly lines: readonly FoundLine[]
  /** Matches in all. */
  readonly total: number
}

/** The matches from `offset` on, at most `limit`, with the lines around them. */
export function pageLines(
  lines: readonly FoundLine[],
  { offset, limit, context }: { readonly offset: number; readonly limit: number; readonly context: number },
): LinesPage {
  const matches = lines.flatMap(({ isMatch }, index) => (isMatch ? [index] : []))
  const wanted = matches.slice(offset, offset + limit)
  if (wanted.length === 0) return { lines: [], total: matches.length }

  const isNear = (index: number, match: number) => {
    const line = lines[index]
    const own = lines[match]!
    return line !== undefined && line.file === own.file && Math.abs(line.line - own.line) <= context
  }
  let from = wanted[0]!
  while (isNear(from - 1, wanted[0]!) && !lines[from - 1]!.isMatch) from--
  let to = wanted.at(-1)!
  while (isNear(to + 1, wanted.at(-1)!) && !lines[to + 1]!.isMatch) to++
  return { lines: lines.slice(from, to + 1), total: matches.length }
}
