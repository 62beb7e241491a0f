import { type ReadContext, ToolError } from '../../../core/index.ts'
import { quote } from '../paths.ts'

/** The most bytes that a file which is changed by parts may have afterwards. */
export const MAX_SOURCE_BYTES = 10_485_760

/** A file that is about to be changed. */
export interface SourceFile {
  /** The real path. */
  readonly path: string
  /** Without its mark. */
  readonly text: string
  /** The mark that goes before the text when it is written again; empty for most files. */
  readonly mark: string
  readonly sha256: string
  /** Of the file. */
  readonly bytes: number
}

/** Reads a file to change it: all of it, and only what can be written back byte by byte. */
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
