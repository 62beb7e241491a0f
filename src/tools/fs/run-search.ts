import { z } from 'zod'
import type { Context, FoundLine, SearchOptions } from '../../core/index.ts'
import { joinPath, quote } from './paths.ts'

/** The glob for all files. */
export const ALL_FILES = '**'
/** Maximum number of matches, and of files with matches, that one search returns or pages through. */
export const MAX_MATCHES = 5_000
export const MAX_FILES = 2_000

/** The arguments of a search, with defaults. */
export interface FileSearchRequest {
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

/** Searches, and returns the requested lines or files. */
export async function runSearch(request: FileSearchRequest, ctx: Context<'read:fs'>): Promise<SearchTextResult> {
  const { type, path } = await ctx.fs.stat(request.root)
  const nameOf = (file: string) => (type === 'file' ? request.root : joinPath(request.root, file))
  const search = request.outputMode === 'content' ? searchLines : listMatchingFiles
  const found = await search(request, nameOf, ctx)
  const isNone = found.matches.length + (found.files?.length ?? 0) === 0
  return isNone ? { ...found, searched: path } : found
}

async function searchLines(
  request: FileSearchRequest,
  nameOf: (file: string) => string,
  ctx: Context<'read:fs'>,
): Promise<SearchTextResult> {
  const limit = Math.min(request.maxMatches, ctx.constraints.maxResults ?? request.maxMatches)
  const { offset = 0, context } = request
  // Every page is cut from the same list, so that the next one continues where the last ended.
  const maxMatches = request.offset === undefined ? limit : MAX_MATCHES
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
  return report(request, { matches, isComplete, ...(skipped > 0 && { skipped }) }, { shown, total: page.total }, ctx)
}

async function listMatchingFiles(
  request: FileSearchRequest,
  nameOf: (file: string) => string,
  ctx: Context<'read:fs'>,
): Promise<SearchTextResult> {
  const limit = Math.min(request.maxFiles, ctx.constraints.maxResults ?? request.maxFiles)
  const { offset = 0 } = request
  const output = request.outputMode === 'count' ? 'counts' : 'files'
  const maxFiles = request.offset === undefined ? limit : MAX_FILES
  const found = await ctx.fs.search(request.root, { ...toOptions(request), output, maxFiles })
  const files = found.files.slice(offset, offset + limit).map(({ file, matches }) => ({
    file: nameOf(file),
    ...(output === 'counts' && { matches }),
  }))
  const { isComplete, skipped } = found
  const result = { matches: [], files, isComplete, ...(skipped > 0 && { skipped }) }
  return report(request, result, { shown: files.length, total: found.files.length }, ctx)
}

/** Adds which part of the whole this is, and reports what was left out. */
function report(
  request: FileSearchRequest,
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

function toOptions(request: FileSearchRequest): SearchOptions {
  const { query: pattern, regex: isRegex, context: contextLines, glob, type, ignoreCase, multiline } = request
  const { includeHidden, includeIgnored } = request
  const globs = glob === ALL_FILES || glob === '**/*' ? [] : [glob]
  return { pattern, isRegex, ignoreCase, globs, type, contextLines, multiline, includeHidden, includeIgnored }
}

/** A part of the found lines. */
interface LinesPage {
  readonly lines: readonly FoundLine[]
  /** Matches in total. */
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

const count = z.int().min(0)

/** Result of a search: lines in `matches`, or files with their counts in `files`. */
export const searchResult = z.strictObject({
  matches: z.array(
    z.strictObject({
      file: z.string().describe('Path, beginning with the root as it was given.'),
      lineNo: z.int().min(1).describe('1-based.'),
      excerpt: z.string().describe('The line, or what is around the match in a long one.'),
      isContext: z.literal(true).optional().describe('A line around a match.'),
    }),
  ),
  files: z
    .array(z.strictObject({ file: z.string(), matches: count.optional().describe('Matching lines, with count.') }))
    .optional()
    .describe('With outputMode files_with_matches or count.'),
  isComplete: z.boolean().describe('False when a limit ended the search before all files were searched.'),
  skipped: count
    .optional()
    .describe('Files that could not be looked into: unreadable, too large or changed meanwhile.'),
  searched: z.string().optional().describe('Real path of the folder or file; given when nothing was found.'),
  page: z
    .strictObject({
      offset: count,
      total: count.describe('Matches, or files, that were found in all.'),
      next: count.optional().describe('The offset to go on with; missing at the end.'),
    })
    .optional()
    .describe('With offset: which part of what was found this is.'),
})

/** Lines or files that a search found. */
export type SearchTextResult = z.infer<typeof searchResult>
