import { z } from 'zod'
import { artifactHash, defineTool } from '../../core/index.ts'
import { countOf, PATH_ALIASES, pathSchema } from './paths.ts'
import { ALL_FILES, MAX_FILES, MAX_MATCHES, runSearch, type SearchTextResult, searchResult } from './run-search.ts'

const DEFAULT_GLOB = '**/*.{md,txt,log,json,ts,js,py,java,scala}'

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
        ...PATH_ALIASES,
        output_mode: 'outputMode',
        head_limit: 'headLimit',
        ignoreCase: 'caseInsensitive',
      },
      description:
        'Search files for a regular expression (ripgrep), in path and below it; respects .gitignore. No match is no error. ' +
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

function notes({ skipped, page, matches, files }: SearchTextResult): string[] {
  const shown = files ? files.length : matches.filter(({ isContext }) => !isContext).length
  const lines: string[] = []
  if (page?.next !== undefined) {
    const range = `${page.offset + 1}-${page.offset + shown}`
    lines.push(`[Showing ${range} of ${page.total}. Use offset=${page.next} to see more.]`)
  }
  if (skipped) lines.push(`[${countOf(skipped, 'file')} could not be looked into.]`)
  return lines
}
