import type { FindOptions, SearchOptions } from '../../../contracts/handles.ts'
import { lazyModule } from '../../../disk/lazy-module.ts'
import { ToolError } from '../../../errors.ts'
import { nearestNames } from '../../../names.ts'
import { globSource } from './glob-source.ts'

const loadFileTypes = lazyModule(() => import('./file-types.ts'))

/** Which files of a tree are meant; plain data that goes to a process or a worker. */
export interface FileChoice {
  /** Lines as in .gitignore that leave out what the caller's globs do not want; empty without globs. */
  readonly globRules: string
  readonly type?: string
  readonly includeHidden: boolean
  readonly includeIgnored: boolean
}

/** A search whose every part was checked. */
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

/** Checks what is looked for and fills in what was not said. */
export async function toSearchJob(options: SearchOptions): Promise<SearchJob> {
  const { pattern, isRegex = false, multiline = false, globs = [], type, output = 'lines' } = options
  checkPattern(pattern, isRegex, multiline)
  if (type !== undefined) await checkType(type)
  return {
    ...toFileChoice({ ...options, globs }),
    type,
    pattern,
    isRegex,
    multiline,
    output,
    ignoreCase: options.ignoreCase ?? false,
    contextLines: output === 'lines' ? within(options.contextLines, 0, 0, MAX_CONTEXT) : 0,
    maxMatches: within(options.maxMatches, 1000, 1, MAX_MATCHES),
    maxFiles: within(options.maxFiles, 2000, 1, MAX_MATCHES),
  }
}

/** Checks which files are meant. */
export function toFileChoice(
  options: Omit<FindOptions, 'pattern'> & { readonly globs: readonly string[] },
): FileChoice {
  return {
    globRules: toGlobRules(options.globs),
    includeHidden: options.includeHidden ?? false,
    includeIgnored: options.includeIgnored ?? false,
  }
}

/** A whole number between two others. */
export function within(value: number | undefined, preset: number, least: number, most: number): number {
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

async function checkType(type: string): Promise<void> {
  const { FILE_TYPES } = await loadFileTypes()
  if (FILE_TYPES.has(type)) return
  const nearest = nearestNames(type, FILE_TYPES.keys())
  throw invalid(
    `There is no file type ${JSON.stringify(type.slice(0, 100))}.`,
    `${nearest.length > 0 ? `Nearest: ${nearest.join(', ')}. ` : ''}Or use a glob: *.${type.slice(0, 20)}`,
  )
}

/**
 * The globs as lines of an ignore file. As ripgrep's own --glob they would win over .gitignore and hidden names;
 * this way they only narrow the choice.
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
    // At its ends a line of an ignore file has marks and spaces that do not count; in a glob they are characters.
    const line = body.replace(/^[!#]/, '\\$&').replace(/\s$/, '[$&]')
    return isNegated ? line : `!${line}`
  })
  const isPositive = globs.some((glob) => !glob.startsWith('!'))
  return (isPositive ? ['*', '!*/', ...lines] : lines).join('\n')
}

function invalid(message: string, hint?: string): ToolError {
  return new ToolError('INPUT_SCHEMA_INVALID', message, { hint })
}
