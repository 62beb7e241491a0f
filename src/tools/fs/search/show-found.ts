import { count } from '../quote.ts'
import type { SearchTextResult } from './search-result.ts'

/** The form that grep prints: `file:line:text`, `file-line-text` around a match, `--` between places; or files, or `file:count`. */
export function showFound(result: SearchTextResult): string {
  const { matches, files } = result
  const found = files ? files.map(showFile) : showLines(matches)
  return [...(found.length === 0 ? [nothing(result)] : found), ...notes(result)].join('\n')
}

function nothing({ page, files, searched }: SearchTextResult): string {
  if (!page || page.total === 0) return searched ? `No matches found in ${searched}.` : 'No matches found.'
  const what = files ? 'files with matches' : 'matches'
  return `No more matches: offset=${page.offset} is after the last of ${page.total} ${what}.`
}

function showFile({ file, matches }: { file: string; matches?: number }): string {
  return matches === undefined ? file : `${file}:${matches}`
}

function showLines(matches: SearchTextResult['matches']): string[] {
  const hasContext = matches.some(({ isContext }) => isContext)
  return matches.flatMap(({ file, lineNo, excerpt, isContext }, index) => {
    const before = matches[index - 1]
    const isApart = hasContext && before && (before.file !== file || before.lineNo + 1 !== lineNo)
    const mark = isContext ? '-' : ':'
    return [...(isApart ? ['--'] : []), `${file}${mark}${lineNo}${mark}${excerpt}`]
  })
}

function notes({ skipped, page, matches, files }: SearchTextResult): string[] {
  const shown = files ? files.length : matches.filter(({ isContext }) => !isContext).length
  const lines: string[] = []
  if (page?.next !== undefined) {
    const range = `${page.offset + 1}-${page.offset + shown}`
    lines.push(`[Showing ${range} of ${page.total}. Use offset=${page.next} to see more.]`)
  }
  if (skipped) lines.push(`[${count(skipped, 'file')} could not be looked into.]`)
  return lines
}
