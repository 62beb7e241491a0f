import type { SearchOptions } from '../../../contracts/handles.ts'
import type { Context } from '../../../define.ts'
import { joinPath } from '../path-schema.ts'
import { quote } from '../quote.ts'
import { pageLines } from './page-lines.ts'
import type { SearchTextResult } from './search-result.ts'

/** The glob for all files. */
export const ALL_FILES = '**'
/** The most matches, and files with matches, that one search gives back or pages through. */
export const MOST_MATCHES = 5_000
export const MOST_FILES = 2_000

/** Arguments of a search, complete. */
export interface SearchRequest {
  readonly root: string
  readonly query: string
  readonly glob: string
  readonly maxMatches: number
  readonly maxFiles: number
  readonly regex: boolean
  readonly ignoreCase: boolean
  readonly type?: string
  readonly context: number
  readonly outputMode: 'content' | 'files_with_matches' | 'count'
  readonly multiline: boolean
  readonly offset?: number
  readonly includeHidden: boolean
  readonly includeIgnored: boolean
}

/** Searches, and gives back the lines or the files that were asked for. */
export async function runSearch(request: SearchRequest, ctx: Context<'read:fs'>): Promise<SearchTextResult> {
  const { type, path } = await ctx.fs.stat(request.root)
  const nameOf = (file: string) => (type === 'file' ? request.root : joinPath(request.root, file))
  const search = request.outputMode === 'content' ? searchLines : searchFiles
  const found = await search(request, nameOf, ctx)
  const isNone = found.matches.length + (found.files?.length ?? 0) === 0
  return isNone ? { ...found, searched: path } : found
}

async function searchLines(
  request: SearchRequest,
  nameOf: (file: string) => string,
  ctx: Context<'read:fs'>,
): Promise<SearchTextResult> {
  const limit = Math.min(request.maxMatches, ctx.constraints.maxResults ?? request.maxMatches)
  const { offset = 0, context } = request
  // To go on where the last page ended, every page is cut from one and the same list.
  const maxMatches = request.offset === undefined ? limit : MOST_MATCHES
  const options = { ...toOptions(request), output: 'lines', maxMatches, maxFiles: request.maxFiles } as const
  const { lines, isComplete, skipped } = await ctx.fs.search(request.root, options)
  const page = pageLines(lines, { offset, limit, context })
  const matches = page.lines.map(({ file, line, text, isMatch }) => ({
    file: nameOf(file),
    lineNo: line,
    excerpt: text,
    ...(!isMatch && { isContext: true as const }),
  }))
  const shown = page.lines.filter(({ isMatch }) => isMatch).length
  return tell(request, { matches, isComplete, ...(skipped > 0 && { skipped }) }, { shown, total: page.total }, ctx)
}

async function searchFiles(
  request: SearchRequest,
  nameOf: (file: string) => string,
  ctx: Context<'read:fs'>,
): Promise<SearchTextResult> {
  const limit = Math.min(request.maxFiles, ctx.constraints.maxResults ?? request.maxFiles)
  const { offset = 0 } = request
  const output = request.outputMode === 'count' ? 'counts' : 'files'
  const maxFiles = request.offset === undefined ? limit : MOST_FILES
  const found = await ctx.fs.search(request.root, { ...toOptions(request), output, maxFiles })
  const files = found.files.slice(offset, offset + limit).map(({ file, matches }) => ({
    file: nameOf(file),
    ...(output === 'counts' && { matches }),
  }))
  const { isComplete, skipped } = found
  const result = { matches: [], files, isComplete, ...(skipped > 0 && { skipped }) }
  return tell(request, result, { shown: files.length, total: found.files.length }, ctx)
}

/** Adds which part of all this is, and tells the caller what was left out. */
function tell(
  request: SearchRequest,
  found: SearchTextResult,
  { shown, total }: { shown: number; total: number },
  ctx: Context,
): SearchTextResult {
  const { offset } = request
  const what = found.files ? 'files' : 'matches'
  ctx.evidence({
    type: 'file',
    ref: request.root,
    summary: `${shown} of ${total} ${what} for ${quote(request.query, 100)}`,
  })
  if (!found.isComplete) ctx.truncated(`The search ended after ${total} ${what}; there may be more. Narrow it.`)
  if (offset === undefined) return found
  const next = offset + shown
  return { ...found, page: { offset, total, ...(shown > 0 && next < total && { next }) } }
}

function toOptions(request: SearchRequest): SearchOptions {
  const { query: pattern, regex: isRegex, context: contextLines, glob, type, ignoreCase, multiline } = request
  const { includeHidden, includeIgnored } = request
  const globs = glob === ALL_FILES || glob === '**/*' ? [] : [glob]
  return { pattern, isRegex, ignoreCase, globs, type, contextLines, multiline, includeHidden, includeIgnored }
}
