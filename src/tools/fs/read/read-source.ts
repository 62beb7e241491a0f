import { type ReadContext, ToolError } from '../../../core/index.ts'
import { quote } from '../paths.ts'

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
