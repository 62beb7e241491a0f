import type { Written } from '../../../contracts/handles.ts'
import type { Context, ReadContext } from '../../../define.ts'
import { ToolError } from '../../../errors.ts'
import { MOST_SOURCE_BYTES, readSource, type SourceFile } from '../read/read-source.ts'
import { applyEdits, type Edited } from './apply-edits.ts'
import { assembleBytes } from './assemble-bytes.ts'
import type { Edit } from './edit.ts'
import { type RegionDiff, regionDiff } from './region-diff.ts'

/** Models edit one file by several calls at once; each of them may have to look again when another was faster. */
const MOST_ATTEMPTS = 20

/** What became of a file. */
interface EditedFile extends Written, RegionDiff, Pick<Edited, 'forgiven'> {
  readonly replacements: number
}

/** Edits, and whether they are found in another indentation, too. */
interface EditOrder {
  readonly edits: readonly Edit[]
  readonly indentation?: boolean
}

/** Edits a file that may change meanwhile: an edit that still fits is made in what the file holds then. */
export async function editFile(
  path: string,
  order: EditOrder,
  ctx: Context<'read:fs' | 'write:fs'>,
): Promise<EditedFile> {
  for (let attempt = 1; ; attempt++) {
    const { source, edited } = await planEdit(path, order, ctx)
    const { text, mark, bytes, sha256 } = source
    const options = { overwrite: true, replaces: sha256 }
    const isAscii = text.length === bytes
    const writing = isAscii
      ? ctx.fs.writeBytes(path, assembleBytes(text, edited.replacements), options)
      : ctx.fs.writeText(path, mark + edited.text, options)
    // The diff is made while the disk is at work.
    const diff = regionDiff(text, edited.replacements, { path })
    const written = await writing.catch((error: unknown) => {
      if (attempt === MOST_ATTEMPTS || !isConflict(error)) throw error
    })
    if (written) return { ...written, ...diff, replacements: edited.replacements.length, forgiven: edited.forgiven }
  }
}

/** Reads a file and works out what becomes of it; nothing is changed yet. */
export async function planEdit(
  path: string,
  { edits, indentation }: EditOrder,
  ctx: Pick<ReadContext, 'fs'>,
): Promise<{ readonly source: SourceFile; readonly edited: Edited }> {
  const source = await readSource(path, ctx)
  const { text, bytes } = source
  return { source, edited: applyEdits(text, edits, { path, indentation, bytes, maxBytes: MOST_SOURCE_BYTES }) }
}

function isConflict(error: unknown): boolean {
  return ToolError.is(error) && error.code === 'CONFLICT'
}
