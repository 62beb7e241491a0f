import { type Context, defineTool, ToolError } from '@tool-hub/core'
import { z } from 'zod'
import { countOf, pathSchema, quote } from './file-arguments.ts'

const MAX_COUNTED = 5_000
const NAMES = { file: 'a file', directory: 'a folder', symlink: 'a link', other: 'a special file' }

/** Deletes a file or a folder after a confirmation call. */
export const deletePath = defineTool({
  name: 'core/fs.deletePath',
  title: 'Delete a file or folder',
  description:
    'Delete a file or a folder. Call it without confirm first: nothing is deleted, and the result says what would be. Then ' +
    'repeat it with confirm: true. A folder that is not empty also needs recursive: true. Owners have to allow it by a rule.',
  input: z.strictObject({
    path: pathSchema('What to delete.'),
    confirm: z
      .boolean()
      .default(false)
      .describe('Really delete it; without it you are only told what would be deleted.'),
    recursive: z.boolean().default(false).describe('Also delete what is in the folder.'),
  }),
  output: z.strictObject({
    path: z.string().describe('The path as it was given.'),
    type: z.enum(['file', 'directory', 'symlink', 'other']),
    files: z.int().min(0).describe('Files that were deleted.'),
    bytes: z.int().min(0),
  }),
  capabilities: ['read:fs', 'write:fs', 'danger:destructive'],
  confirmedBy: 'confirm',
  // The first phase only reads.
  targets: ({ path, confirm }) => ({
    'read:fs': confirm ? [] : path,
    'write:fs': confirm ? path : [],
    'danger:destructive': confirm ? path : [],
  }),
  async preview({ path, confirm }, { fs }) {
    if (!confirm || (await fs.stat(path)).type !== 'file') return []
    return [{ path, before: await fs.readText(path), after: undefined }]
  },
  timeoutMs: 60_000,
  category: 'write',
  tags: ['file', 'folder', 'delete', 'remove'],
  version: '1.0.0',
  examples: [
    { input: { path: 'draft.md', confirm: true } },
    { input: { path: 'build', recursive: true, confirm: true }, note: 'a folder with all that is in it' },
  ],
  async execute({ path, confirm, recursive }, ctx) {
    if (!confirm) throw await unconfirmed(path, ctx)
    const { type, files, bytes } = await ctx.fs.remove(path, { recursive })
    ctx.evidence({ type: 'file', ref: path, summary: `deleted: ${type}, ${countOf(files, 'file')}, ${bytes} bytes` })
    return { path, type, files, bytes }
  },
  toModel: ({ path, type, files, bytes }) =>
    type === 'directory'
      ? `Deleted ${path} with ${countOf(files, 'file')}, ${bytes} bytes.`
      : `Deleted ${path}, ${bytes} bytes.`,
})

/** The first of two phases: what would be deleted, and how to continue. */
async function unconfirmed(path: string, ctx: Context<'read:fs'>): Promise<ToolError> {
  const facts = await ctx.fs.stat(path)
  const what =
    facts.type === 'directory' ? await describeFolder(path, ctx) : `${NAMES[facts.type]} of ${facts.bytes} bytes`
  ctx.evidence({ type: 'file', ref: path, summary: `not deleted: ${what}` })
  return new ToolError('INPUT_SCHEMA_INVALID', `Nothing was deleted. ${quote(path)} is ${what}.`, {
    fix: { key: 'confirm', value: true, hint: 'If all of that should go, repeat the call with confirm: true.' },
  })
}

async function describeFolder(path: string, ctx: Context<'read:fs'>): Promise<string> {
  const options = { recursive: true, includeHidden: true, maxEntries: MAX_COUNTED }
  const { entries, isComplete } = await ctx.fs.list(path, options)
  if (entries.length === 0) return 'an empty folder'
  const files = entries.filter(({ type }) => type !== 'directory')
  const bytes = files.reduce((sum, { size }) => sum + size, 0)
  const least = isComplete ? '' : 'at least '
  return `a folder with ${least}${countOf(files.length, 'file')} and ${countOf(entries.length - files.length, 'folder')} in it, ${bytes} bytes`
}
