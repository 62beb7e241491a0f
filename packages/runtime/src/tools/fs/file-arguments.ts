import { type ReadContext, ToolError } from '@tool-hub/core'
import { z } from 'zod'

/** The schema of a path argument; the guard decides which paths are allowed. */
export function pathSchema(description: string) {
  return z.string().min(1).max(4_096).describe(description)
}

/** Other spellings of `path` that models use. */
export const PATH_ALIASES = { file_path: 'path', filePath: 'path' } as const

/** The arguments of a search, as `core/fs.searchText` and `core/fs.find` each call them. */
export const SEARCH_ALIASES = { ...PATH_ALIASES, root: 'path', query: 'pattern' } as const

/** Joins a folder, as the caller named it, and a path found below it. */
export function joinPath(folder: string, name: string): string {
  if (folder === '.' || folder === './') return name
  return folder.endsWith('/') ? folder + name : `${folder}/${name}`
}

/** A text for a message: quoted, control characters escaped, of bounded length. */
export function quote(text: string, most = 200): string {
  return JSON.stringify(text.length > most ? `${text.slice(0, most)}…` : text)
}

/** `1 file`, `2 files`. */
export function countOf(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

/** Size limit of a file after an edit or a patch. */
export const MAX_SOURCE_BYTES = 10_485_760

/** A file that is about to be changed. */
export interface SourceFile {
  /** The real path. */
  readonly path: string
  /** Without its byte order mark. */
  readonly text: string
  /** The byte order mark, written back before the text; empty for most files. */
  readonly mark: string
  readonly sha256: string
  /** Size of the file. */
  readonly bytes: number
}

/** Reads a whole file in order to change it. Throws if it could not be written back byte by byte. */
export async function readSource(path: string, { fs }: Pick<ReadContext, 'fs'>): Promise<SourceFile> {
  const { encoding, text, sha256, bytes, path: realPath } = await fs.readFile(path)
  if (encoding === 'utf-8') return { path: realPath, text, mark: '', sha256, bytes }
  if (encoding === 'utf-8-bom') return { path: realPath, text, mark: '\ufeff', sha256, bytes }
  throw new ToolError(
    'INPUT_SCHEMA_INVALID',
    `${quote(path)} is ${encoding.toUpperCase()}; only UTF-8 can be edited.`,
    {
      hint: 'Write the whole file anew as UTF-8, if that is what you want.',
    },
  )
}
