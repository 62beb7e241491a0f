import { type Context, defineTool, type FoundLine, type SearchOptions } from '@tool-hub/core'
import { artifactHash } from '@tool-hub/core/lib'
import { z } from 'zod'
import { countOf, joinPath, pathSchema, quote, SEARCH_ALIASES } from './file-arguments.ts'

/** The glob for all files. */
const ALL_FILES = '**'
/** Maximum number of matches, and of files with matches, that one search returns or pages through. */
/** Files of another encoding that are named. */
const MAX_NAMED = 10
const MAX_MATCHES = 5_000
const MAX_FILES = 2_000
const DEFAULT_GLOB = '**/*.{md,txt,log,json,ts,js,py,java,scala}'

const count = z.int().min(0)

/** Result of a search: lines in `matches`, or files with their counts in `files`. */
const searchResult = z.strictObject({
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
  otherEncoding: z
    .array(z.string())
    .optional()
    .describe('Files that are not UTF-8, in which only ASCII is found; core/fs.readText reads them with encoding.'),
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
type SearchTextResult = z.infer<typeof searchResult>

const outputMode = z
  .enum(['content', 'files_with_matches', 'count'])
  .describe('Matching lines, or only the files, or how many lines match in each.')
const context = z.int().min(0).max(20).default(0).describe('Lines to show around each match.')
const type = z.string().min(1).max(50).optional().describe('A kind of files: ts, py, md.')
const multiline = z.boolean().default(false).describe('The pattern may span lines.')
const glob = z.string().min(1).max(1_000)

const input = z.strictObject({
  root: pathSchema('The folder (or file) to search in, or artifact:<sha256> of this run.'),
  query: z.string().min(1).max(10_000).describe('What to look for: plain text, unless regex is set.'),
  glob: glob.default(DEFAULT_GLOB).describe('Which files to search; ** searches all.'),
  maxMatches: z.int().min(1).max(MAX_MATCHES).default(200).describe('The most matches to return.'),
  maxFiles: z.int().min(1).max(MAX_FILES).default(MAX_FILES).describe('The most files with matches.'),
  regex: z.boolean().default(false).describe('The query is a regular expression.'),
  ignoreCase: z.boolean().default(false).describe('Upper and lower case are the same.'),
  type,
  context,
  outputMode: outputMode.default('content'),
  multiline,
  offset: z.int().min(0).max(MAX_MATCHES).optional().describe('Leave out so many matches (or files) at the beginning.'),
  includeHidden: z.boolean().default(false).describe('Also files whose names begin with a dot.'),
  includeIgnored: z.boolean().default(false).describe('Also what .gitignore leaves out.'),
})

/** Searches the text of files. */
export const searchText = defineTool({
  name: 'core/fs.searchText',
  title: 'Search in files',
  description:
    'Search the text of all files in a folder and below it; what .gitignore leaves out, hidden files and secrets are not ' +
    'searched. Use it to find where something is said or used. Not to find files by name: core/fs.find does that.',
  input,
  output: searchResult,
  capabilities: ['read:fs'],
  targets: ({ root }) => ({ 'read:fs': artifactHash(root) === undefined ? root : [] }),
  timeoutMs: 30_000,
  category: 'search',
  tags: ['file', 'text', 'search', 'grep'],
  version: '1.0.0',
  examples: [
    { input: { root: '.', query: 'deprecated' } },
    {
      input: { root: '.', query: 'fn \\w+\\(', regex: true, glob: '**/*.rs', maxMatches: 20 },
      note: 'functions in Rust',
    },
  ],
  dialects: {
    coding: {
      name: 'grep',
      argumentAliases: {
        ...SEARCH_ALIASES,
        output_mode: 'outputMode',
        head_limit: 'headLimit',
        ignoreCase: 'caseInsensitive',
      },
      description:
        'Search files for a regular expression (ripgrep), in path and below it; respects .gitignore. No match is not an error. ' +
        'Go on with offset when not all is shown.',
      input: z.strictObject({
        pattern: z.string().min(1).max(10_000).describe('A regular expression.'),
        path: pathSchema('The folder or file to search in, or artifact:<sha256> of this run.').default('.'),
        glob: glob.optional().describe('Which files to search: *.ts, src/**.'),
        type,
        outputMode: outputMode.default('content'),
        context,
        caseInsensitive: z.boolean().default(false).describe('Upper and lower case are the same.'),
        headLimit: z.int().min(1).max(MAX_MATCHES).default(100).describe('The most matches (or files) to show.'),
        offset: z.int().min(0).max(MAX_MATCHES).default(0).describe('Leave out so many at the beginning.'),
        multiline,
      }),
      toInput: ({ pattern, path, glob = ALL_FILES, caseInsensitive, headLimit, ...rest }) => ({
        ...rest,
        ...within(rest.outputMode, headLimit),
        root: path,
        query: pattern,
        glob,
        regex: true,
        ignoreCase: caseInsensitive,
      }),
      toModel: showFound,
    },
    files: {
      name: 'search_files',
      maxOutputChars: 1_048_576,
      aliases: ['grep_files'],
      argumentAliases: SEARCH_ALIASES,
      description: 'Search files for a regular expression, in path and below it: file, line and text of each match.',
      input: z.strictObject({
        pattern: z.string().min(1).max(10_000).describe('A regular expression.'),
        path: pathSchema('The folder or file to search in, or artifact:<sha256> of this run.').default('.'),
        file_pattern: glob.optional().describe('Which files to search: *.ts'),
      }),
      toInput: ({ pattern, path, file_pattern: glob = ALL_FILES }) => ({
        root: path,
        query: pattern,
        glob,
        regex: true,
        maxMatches: 1_000,
      }),
      toModel: showFound,
    },
  },
  execute: (request, ctx) => runSearch(artifactHash(request.root) ? { ...request, glob: ALL_FILES } : request, ctx),
  toModel: showFound,
})

/** What `headLimit` limits depends on the output mode. */
function within(mode: z.infer<typeof outputMode>, limit: number): { maxMatches?: number; maxFiles?: number } {
  return mode === 'content' ? { maxMatches: limit } : { maxFiles: Math.min(limit, MAX_FILES) }
}

/**
 * The format of grep: `file:line:text`, `file-line-text` around a match, `--` between places; or files, or
 * `file:count`.
 */
function showFound(result: SearchTextResult): string {
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

function notes({ skipped, otherEncoding = [], page, matches, files }: SearchTextResult): string[] {
  const shown = files ? files.length : matches.filter(({ isContext }) => !isContext).length
  const lines: string[] = []
  if (page?.next !== undefined) {
    const range = `${page.offset + 1}-${page.offset + shown}`
    lines.push(`[Showing ${range} of ${page.total}. Use offset=${page.next} to see more.]`)
  }
  if (skipped) lines.push(`[${countOf(skipped, 'file')} could not be looked into.]`)
  if (otherEncoding.length > 0) lines.push(notSearched(otherEncoding))
  return lines
}

function notSearched(files: readonly string[]): string {
  const more = files.length > MAX_NAMED ? ' and more' : ''
  const named = files.slice(0, MAX_NAMED).join(', ') + more
  return `[Not UTF-8, so only ASCII is found in them: ${named}. Read them with encoding, such as gbk.]`
}

/** The arguments of a search, with defaults. */
interface FileSearchRequest {
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
async function runSearch(request: FileSearchRequest, ctx: Context<'read:fs'>): Promise<SearchTextResult> {
  const { type, path } = await ctx.fs.stat(request.root)
  const nameOf = (file: string) => (type === 'file' ? request.root : joinPath(request.root, file))
  const search = request.outputMode === 'content' ? searchLines : listMatchingFiles
  const found = await search(request, nameOf, ctx)
  const isNone = found.matches.length + (found.files?.length ?? 0) === 0
  const others = await notUtf8(request, ctx)
  const otherEncoding = others.length > 0 && { otherEncoding: others.map(nameOf) }
  return { ...found, ...otherEncoding, ...(isNone && { searched: path }) }
}

/** A line that is not UTF-8: a part of a character without its beginning, a beginning without its end, or neither. */
const NOT_UTF8 = [
  '(?-u)(?:^|[\\x00-\\x7f])[\\x80-\\xbf]',
  '[\\xc0\\xc1\\xf5-\\xff]',
  '[\\xc2-\\xf4](?:[^\\x80-\\xbf]|$)',
  '[\\xe0-\\xf4][\\x80-\\xbf](?:[^\\x80-\\xbf]|$)',
  '[\\xf0-\\xf4][\\x80-\\xbf]{2}(?:[^\\x80-\\xbf]|$)',
].join('|')

/** The searched files in which text like the query cannot be found. ASCII is the same in most encodings. */
async function notUtf8(request: FileSearchRequest, ctx: Context<'read:fs'>): Promise<readonly string[]> {
  if (/^[\0-\x7f]*$/.test(request.query)) return []
  const options = { ...toOptions(request), pattern: NOT_UTF8, isRegex: true, ignoreCase: false, multiline: false }
  const { files } = await ctx.fs.search(request.root, { ...options, output: 'files', maxFiles: MAX_NAMED + 1 })
  return files.map(({ file }) => file)
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
  if (!found.isComplete) {
    const where = isEndedByFiles(request, found)
      ? ` in ${countOf(request.maxFiles, 'file')}, the limit of maxFiles`
      : ''
    ctx.truncated(`The search ended after ${total} ${what}${where}; there may be more. Narrow it.`)
  }
  if (offset === undefined) return found
  const next = offset + shown
  return { ...found, page: { offset, total, ...(shown > 0 && next < total && { next }) } }
}

function isEndedByFiles({ maxFiles, offset }: FileSearchRequest, { matches, files }: SearchTextResult): boolean {
  return !files && offset === undefined && new Set(matches.map(({ file }) => file)).size >= maxFiles
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
