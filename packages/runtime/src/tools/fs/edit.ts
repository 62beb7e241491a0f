import { type Context, defineTool, type ReadContext, ToolError, type Written } from '@tool-hub/core'
import { z } from 'zod'
import { applyEdits, type Edited } from './edit/apply-edits.ts'
import { codingEditInput, type Edit, editInput, editsOf, type Replacement } from './edit/edit-input.ts'
import { type RegionDiff, regionDiff } from './edit/region-diff.ts'
import { countOf, MAX_SOURCE_BYTES, PATH_ALIASES, readSource, type SourceFile } from './file-arguments.ts'

/** Models edit a file with several calls at the same time; each may have to try again if another was faster. */
const MAX_ATTEMPTS = 20

/** Replaces parts of a text file. */
export const edit = defineTool({
  name: 'core/fs.edit',
  title: 'Edit a text file',
  description:
    'Replace a text in a file by another; every other byte stays. The old text must stand there exactly once, unless ' +
    'replaceAll is set; blanks at line ends and kinds of quotes are forgiven. Use edits for several changes in one call. Not ' +
    'for new files: write them.',
  input: editInput,
  output: z.strictObject({
    path: z.string().describe('The path as it was given.'),
    replacements: z.int().min(1).describe('How many places were changed.'),
    firstChangedLine: z.int().min(1).describe('1-based, in the file as it is now.'),
    diff: z.string().describe('Unified diff with four lines around each change.'),
    bytes: z.int().min(0).describe('Bytes of the file now.'),
    sha256: z.string().describe('SHA-256 of the file now, hex.'),
    forgiven: z
      .array(z.enum(['trailing-space', 'unicode', 'indentation']))
      .optional()
      .describe('What differed between the old text and the file; missing when it was found exactly.'),
  }),
  capabilities: ['read:fs', 'write:fs', 'danger:destructive'],
  // Only what this call has read is replaced, so that nothing unknown is destroyed.
  targets: ({ path }) => ({ 'read:fs': path, 'write:fs': path, 'danger:destructive': [] }),
  async preview({ path, indentation, ...input }, ctx) {
    const { source, edited } = await planEdit(path, { edits: editsOf(input), indentation }, ctx)
    return [{ path, before: source.text, after: edited.text }]
  },
  callers: ['direct', 'script'],
  timeoutMs: 30_000,
  category: 'write',
  tags: ['file', 'text', 'edit', 'replace'],
  version: '1.0.0',
  examples: [
    { input: { path: 'config.json', oldText: '"debug": false', newText: '"debug": true' } },
    { input: { path: 'notes.md', oldText: 'teh', newText: 'the', replaceAll: true }, note: 'everywhere in the file' },
  ],
  dialects: {
    coding: {
      name: 'edit',
      argumentAliases: {
        ...PATH_ALIASES,
        oldText: 'oldString',
        old_string: 'oldString',
        newText: 'newString',
        new_string: 'newString',
        replace_all: 'replaceAll',
      },
      description:
        'Replace oldString by newString in a file. Copy oldString exactly from the file, without line numbers; it must be ' +
        'unique, so give lines around it, or set replaceAll. Use edits for several changes in one call.',
      input: codingEditInput,
      toInput: ({ path, oldString, newString, replaceAll, edits }) => ({
        path,
        oldText: oldString,
        newText: newString,
        replaceAll,
        edits,
      }),
    },
  },
  async execute({ path, indentation, ...input }, ctx) {
    const { replacements, forgiven, ...changes } = await editFile(path, { edits: editsOf(input), indentation }, ctx)
    const { bytes, sha256 } = changes
    const summary = `${countOf(replacements, 'replacement')}, ${bytes} bytes, sha256 ${sha256}`
    ctx.evidence({ type: 'file', ref: path, summary })
    const result = { path, replacements, ...changes }
    return forgiven.length === 0 ? result : { ...result, forgiven: [...forgiven] }
  },
  toModel: ({ path, replacements, diff, forgiven }) => {
    const how = forgiven ? ` (forgiven: ${forgiven.join(', ')})` : ''
    return `Changed ${countOf(replacements, 'place')} in ${path}${how}.\n${diff}`
  },
})

/** Result of editing a file. */
interface EditedFile extends Written, RegionDiff, Pick<Edited, 'forgiven'> {
  readonly replacements: number
}

/** Edits, and whether another indentation is accepted. */
interface EditOrder {
  readonly edits: readonly Edit[]
  readonly indentation?: boolean
}

/** Edits a file that may change meanwhile: an edit that still fits is applied to the new content. */
async function editFile(path: string, order: EditOrder, ctx: Context<'read:fs' | 'write:fs'>): Promise<EditedFile> {
  for (let attempt = 1; ; attempt++) {
    const { source, edited } = await planEdit(path, order, ctx)
    const { text, mark, bytes, sha256 } = source
    const options = { overwrite: true, replaces: sha256 }
    const isAscii = text.length === bytes
    const writing = isAscii
      ? ctx.fs.writeBytes(path, assemble(text, edited.replacements), options)
      : ctx.fs.writeText(path, mark + edited.text, options)
    // The diff is computed while the file is written.
    const diff = regionDiff(text, edited.replacements, { path })
    const written = await writing.catch((error: unknown) => {
      if (attempt === MAX_ATTEMPTS || !isConflict(error)) throw error
    })
    if (written) return { ...written, ...diff, replacements: edited.replacements.length, forgiven: edited.forgiven }
  }
}

/** Reads a file and computes its new content; changes nothing yet. */
async function planEdit(
  path: string,
  { edits, indentation }: EditOrder,
  ctx: Pick<ReadContext, 'fs'>,
): Promise<{ readonly source: SourceFile; readonly edited: Edited }> {
  const source = await readSource(path, ctx)
  const { text, bytes } = source
  return { source, edited: applyEdits(text, edits, { path, indentation, bytes, maxBytes: MAX_SOURCE_BYTES }) }
}

function isConflict(error: unknown): boolean {
  return ToolError.is(error) && error.code === 'CONFLICT'
}

/** A larger file is written in pieces. */
const PIECE_BYTES = 1_048_576

/**
 * The bytes of an ASCII text after its replacements. Each character is one byte, so unchanged parts are copied and not
 * encoded again, which would take longer than the rest of an edit for a large file. Its pieces share their memory, since
 * 5 MB of new memory take as long as writing them: each is valid until the next one is requested.
 */
export function assemble(
  ascii: string,
  replacements: readonly Replacement[],
  pieceBytes = PIECE_BYTES,
): Uint8Array | AsyncIterable<Uint8Array> {
  const parts: string[] = []
  let from = 0
  for (const { start, end, text } of replacements) {
    // One character per byte, as in the rest.
    parts.push(ascii.slice(from, start), Buffer.from(text).toString('latin1'))
    from = end
  }
  parts.push(ascii.slice(from))
  const size = parts.reduce((sum, { length }) => sum + length, 0)
  return size > pieceBytes ? cutPieces(parts, pieceBytes) : Buffer.from(parts.join(''), 'latin1')
}

async function* cutPieces(parts: readonly string[], pieceBytes: number): AsyncGenerator<Uint8Array> {
  const piece = Buffer.allocUnsafeSlow(pieceBytes)
  let filled = 0
  for (const part of parts) {
    for (let offset = 0; offset < part.length; ) {
      const count = piece.write(part.slice(offset, offset + pieceBytes - filled), filled, 'latin1')
      offset += count
      filled += count
      if (filled < pieceBytes) continue
      yield piece
      filled = 0
    }
  }
  if (filled > 0) yield piece.subarray(0, filled)
}
