import { isAbsolute } from 'node:path'
import { defineTool, type ReadContext, ToolError } from '@tool-hub/core'
import { z } from 'zod'
import { countOf, PATH_ALIASES, pathSchema } from './file-arguments.ts'

const path = pathSchema('The file to write.')
const content = z.string().max(16_777_216).describe('The whole text of the file.')

/** Writes a text file. */
export const writeText = defineTool({
  name: 'core/fs.writeText',
  title: 'Write a text file',
  description:
    'Write a text to a file, whole or not at all; missing folders are made. Use it for new files and to move long text out ' +
    'of the conversation. An existing file is only replaced with overwrite, and only when this run has read it or a rule ' +
    'allows it. Not for small changes to a file: edit it.',
  input: z.strictObject({
    path,
    text: content,
    overwrite: z.boolean().default(false).describe('Replace the file if it exists.'),
    mkdirp: z.boolean().default(true).describe('Make missing folders above the file.'),
  }),
  output: z.strictObject({
    path: z.string().describe('The path as it was given.'),
    bytes: z.int().min(0).describe('Bytes that were written.'),
    sha256: z.string().describe('SHA-256 of the file, hex.'),
  }),
  capabilities: ['write:fs', 'danger:destructive'],
  targets: ({ path, overwrite }, known) => ({
    'write:fs': path,
    'danger:destructive': overwrite && known.isUnread(path) ? path : [],
  }),
  async preview({ path, text, overwrite }, ctx) {
    const before = await readIfThere(path, ctx)
    // Without overwrite nothing is replaced: the call fails.
    return before === undefined || overwrite ? [{ path, before, after: text }] : []
  },
  // What it replaces was read in this run, or a rule allows it, so scripts may call it too.
  callers: ['direct', 'script'],
  timeoutMs: 30_000,
  category: 'write',
  tags: ['file', 'text', 'write'],
  version: '1.0.0',
  examples: [
    { input: { path: 'reports/summary.md', text: '# Summary\n' } },
    { input: { path: 'notes.md', text: 'new text\n', overwrite: true }, note: 'replaces a file that was read before' },
  ],
  dialects: {
    coding: {
      name: 'write',
      argumentAliases: { ...PATH_ALIASES, text: 'content' },
      description:
        'Write a file; missing folders are made and an existing file is replaced, so read it first. For small changes use edit.',
      checkSpelling: needAbsoluteFilePath,
      input: z.strictObject({ path: pathSchema('The file to write, best as an absolute path.'), content }),
      toInput: ({ path, content }) => ({ path, text: content, overwrite: true, mkdirp: true }),
    },
    files: {
      name: 'write_file',
      argumentAliases: { ...PATH_ALIASES, text: 'content' },
      description: 'Write a text to a file; missing folders are made. An existing file is replaced, so read it first.',
      input: z.strictObject({ path, content }),
      toInput: ({ path, content }) => ({ path, text: content, overwrite: true, mkdirp: true }),
    },
  },
  async execute({ path, text, overwrite, mkdirp }, ctx) {
    const { bytes, sha256 } = await ctx.fs.writeText(path, text, { overwrite, mkdirp })
    ctx.evidence({ type: 'file', ref: path, summary: `${bytes} bytes, sha256 ${sha256}` })
    return { path, bytes, sha256 }
  },
  toModel: ({ path, bytes }) => `Wrote ${countOf(bytes, 'byte')} to ${path}.`,
})

/**
 * Tool sets that name this argument `filePath` require an absolute path, so that no model writes to a place it did not
 * mean.
 */
function needAbsoluteFilePath({ filePath }: Readonly<Record<string, unknown>>): void {
  if (typeof filePath !== 'string' || isAbsolute(filePath)) return
  throw new ToolError(
    'INPUT_SCHEMA_INVALID',
    `filePath must be an absolute path, ${JSON.stringify(filePath)} is not.`,
    {
      fix: { key: 'filePath', hint: 'Give the absolute path of the file, or use path for one relative to the root.' },
    },
  )
}

/** The text of a file; `undefined` if the file does not exist. */
async function readIfThere(path: string, { fs }: Pick<ReadContext, 'fs'>): Promise<string | undefined> {
  try {
    return await fs.readText(path)
  } catch (error) {
    if (ToolError.is(error) && error.code === 'NOT_FOUND') return undefined
    throw error
  }
}
