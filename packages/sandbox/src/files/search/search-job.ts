import { type FindOptions, nearestNames, type SearchOptions, ToolError } from '@tool-hub/core'
import { SECRET_NAMES } from '../../protected/names/index.ts'
import type { SearchFolder } from './found-files.ts'
import { globSource } from './ignore-rules.ts'

/** Which files of a tree to search. */
export interface FileChoice {
  /** Lines of an ignore file that leave out what the caller's globs do not match; empty without globs. */
  readonly globRules: string
  readonly type?: string
  readonly includeHidden: boolean
  readonly includeIgnored: boolean
}

/** A search with checked options and all defaults filled in. */
export interface SearchJob extends FileChoice {
  readonly pattern: string
  readonly isRegex: boolean
  readonly ignoreCase: boolean
  readonly multiline: boolean
  readonly contextLines: number
  readonly output: 'lines' | 'files' | 'counts'
  readonly maxMatches: number
  readonly maxFiles: number
}

const MAX_PATTERN = 10_000
const MAX_GLOBS = 100
const MAX_GLOB = 1000
const MAX_CONTEXT = 100
const MAX_MATCHES = 100_000

/** Checks the options of a search and fills in the defaults. `knownTypes` is called only if a file type is given. */
export async function toSearchJob(
  options: SearchOptions,
  knownTypes: () => Promise<ReadonlySet<string>>,
): Promise<SearchJob> {
  const { pattern, isRegex = false, multiline = false, globs = [], type, output = 'lines' } = options
  checkPattern(pattern, isRegex, multiline)
  if (type !== undefined) checkType(type, await knownTypes())
  return {
    ...toFileChoice({ ...options, globs }),
    type,
    pattern,
    isRegex,
    multiline,
    output,
    ignoreCase: options.ignoreCase ?? false,
    contextLines: output === 'lines' ? clampCount(options.contextLines, 0, 0, MAX_CONTEXT) : 0,
    maxMatches: clampCount(options.maxMatches, 1000, 1, MAX_MATCHES),
    maxFiles: clampCount(options.maxFiles, 2000, 1, MAX_MATCHES),
  }
}

/** Checks the options that choose files. */
export function toFileChoice(
  options: Omit<FindOptions, 'pattern'> & { readonly globs: readonly string[] },
): FileChoice {
  return {
    globRules: toGlobRules(options.globs),
    includeHidden: options.includeHidden ?? false,
    includeIgnored: options.includeIgnored ?? false,
  }
}

/** A whole number in a range; the default if it is missing. */
export function clampCount(value: number | undefined, preset: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, Math.trunc(value ?? preset) || least))
}

function checkPattern(pattern: string, isRegex: boolean, multiline: boolean): void {
  if (pattern === '') throw invalid('The pattern is empty; it would match every line.')
  if (pattern.length > MAX_PATTERN)
    throw invalid(`The pattern has ${pattern.length} characters, the limit is ${MAX_PATTERN}.`)
  if (pattern.includes('\0')) throw invalid('The pattern has a NUL character.')
  if (multiline || !(isRegex ? /(?<!\\)(?:\\\\)*(?:\n|\\n)/ : /\n/).test(pattern)) return
  throw invalid('The pattern has a line break, but lines are searched one at a time.', 'Set multiline to true.')
}

function checkType(type: string, known: ReadonlySet<string>): void {
  if (known.has(type)) return
  const nearest = nearestNames(type, known)
  throw invalid(
    `Unknown file type ${JSON.stringify(type.slice(0, 100))}.`,
    `${nearest.length > 0 ? `Nearest: ${nearest.join(', ')}. ` : ''}Or use a glob: *.${type.slice(0, 20)}`,
  )
}

/**
 * The globs as lines of an ignore file. As ripgrep's own --glob they would take precedence over .gitignore and hidden
 * names; this way they only narrow the choice.
 */
function toGlobRules(globs: readonly string[]): string {
  if (globs.length > MAX_GLOBS) throw invalid(`There are ${globs.length} globs, the limit is ${MAX_GLOBS}.`)
  const lines = globs.map((glob) => {
    const isNegated = glob.startsWith('!')
    const body = isNegated ? glob.slice(1) : glob
    if (body === '' || body.length > MAX_GLOB)
      throw invalid(`A glob has ${body.length} characters; it must have 1 to ${MAX_GLOB}.`)
    if (/[\n\r\0]/.test(body)) throw invalid(`The glob ${JSON.stringify(glob)} has a line break or a NUL character.`)
    globSource(body)
    // In an ignore file, marks at the start and spaces at the end of a line are special; in a glob they are characters.
    const line = body.replace(/^[!#]/, '\\$&').replace(/\s$/, '[$&]')
    return isNegated ? line : `!${line}`
  })
  const isPositive = globs.some((glob) => !glob.startsWith('!'))
  return (isPositive ? ['*', '!*/', ...lines] : lines).join('\n')
}

function invalid(message: string, hint?: string): ToolError {
  return new ToolError('INPUT_SCHEMA_INVALID', message, { hint })
}

/** A ripgrep command line: its arguments, and the texts it reads as ignore files, weakest first. */
export interface RgCommand {
  /** The arguments with the paths of the ignore files. */
  readonly args: (ignoreFiles: readonly string[]) => readonly string[]
  readonly ignoreFiles: readonly string[]
}

/** Searches the content of files. Values are joined to their options by `=`, so that no value can become an option. */
export function searchCommand(place: SearchFolder, job: SearchJob): RgCommand {
  // One more than the limit, to know whether there are more.
  const perFile = { lines: [`--max-count=${job.maxMatches + 1}`], files: ['--max-count=1'], counts: [] }[job.output]
  return command(place, job, [
    '--json',
    '--crlf',
    // A file that shrinks while it is mapped would kill the process.
    '--no-mmap',
    ...perFile,
    ...(job.isRegex ? [] : ['--fixed-strings']),
    ...(job.ignoreCase ? ['--ignore-case'] : ['--case-sensitive']),
    ...(job.multiline ? ['--multiline'] : []),
    ...(job.contextLines > 0 ? [`--context=${job.contextLines}`] : []),
    `--regexp=${job.pattern}`,
  ])
}

function command(place: SearchFolder, choice: FileChoice, what: readonly string[]): RgCommand {
  const ignoreFiles = [choice.globRules, choice.includeIgnored ? '' : place.rulesAbove].filter((text) => text !== '')
  const args = (paths: readonly string[]) => [
    '--no-config',
    '--no-follow',
    '--color=never',
    '--hidden',
    ...(choice.includeIgnored ? ['--no-ignore'] : ['--no-require-git', '--no-ignore-dot', '--no-ignore-exclude']),
    '--no-ignore-global',
    // Rules above the root do not apply; those between the root and the folder come as an ignore file.
    '--no-ignore-parent',
    '--no-ignore-messages',
    ...paths.map((path) => `--ignore-file=${path}`),
    ...(choice.includeHidden ? [] : ['--glob=!.*']),
    ...OWN_GLOBS.map((glob) => `--glob=!${glob}`),
    ...SECRET_GLOBS.map((glob) => `--iglob=!${glob}`),
    ...(choice.type === undefined ? [] : [`--type=${choice.type}`]),
    ...what,
    '--',
    place.file === undefined ? '.' : `./${place.file}`,
  ]
  return { args, ignoreFiles }
}

/**
 * Names that are never searched, as ripgrep globs that ignore case: secrets, and files that were set aside, which may be
 * secrets.
 */
export const SECRET_GLOBS = [...SECRET_NAMES, '*.set-aside-????????'] as const

/** Names that are never searched: the internals of git, and files that tool-hub is writing. */
export const OWN_GLOBS = ['.git', '.tool-hub-*.tmp'] as const

const SECRET_NAME = anyOf(SECRET_GLOBS, 'isu')
const OWN_NAME = anyOf(OWN_GLOBS, 'su')

/** Whether no file or folder of this name is searched, by the lists that ripgrep gets as globs. */
export function isNeverSearched(name: string): boolean {
  return SECRET_NAME.test(name) || OWN_NAME.test(name)
}

function anyOf(globs: readonly string[], flags: string): RegExp {
  // A star at the beginning is left out, so that the expression does not start over for each glob.
  const sources = globs.map((glob) => {
    const source = glob.replaceAll('.', '\\.').replaceAll('?', '.')
    const isOpen = source.startsWith('*')
    return `${isOpen ? '' : '^'}${source.slice(isOpen ? 1 : 0).replaceAll('*', '.*')}`
  })
  return new RegExp(`(?:${sources.join('|')})$`, flags)
}
