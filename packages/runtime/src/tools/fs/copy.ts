import { defineTool } from '@tool-hub/core'
import { z } from 'zod'
import { countOf, pathSchema } from './file-arguments.ts'

/** Copies a file or a folder. */
export const copy = defineTool({
  name: 'core/fs.copy',
  title: 'Copy a file or folder',
  description:
    'Copy a file, or a folder with all that is in it; missing folders above the new place are made. Nothing is ever ' +
    'replaced: the new name must be free. Links are left out.',
  input: z.strictObject({
    from: pathSchema('What to copy.'),
    to: pathSchema('The path of the copy, not only the folder to put it in.'),
    mkdirp: z.boolean().default(true).describe('Make missing folders above the new place.'),
  }),
  output: z.strictObject({
    from: z.string(),
    to: z.string(),
    files: z.int().min(0).describe('Files that were copied.'),
    bytes: z.int().min(0),
    skipped: z.int().min(0).describe('Links and special files that were left out.'),
  }),
  capabilities: ['read:fs', 'write:fs'],
  targets: ({ from, to }) => ({ 'read:fs': from, 'write:fs': to }),
  timeoutMs: 120_000,
  category: 'write',
  tags: ['file', 'folder', 'copy'],
  version: '1.0.0',
  examples: [
    { input: { from: 'config.json', to: 'config.backup.json' } },
    { input: { from: 'template', to: 'projects/new' }, note: 'a folder with all that is in it' },
  ],
  async execute({ from, to, mkdirp }, ctx) {
    const { files, bytes, skipped } = await ctx.fs.copy(from, to, { mkdirp })
    ctx.evidence({ type: 'file', ref: to, summary: `copied from ${from}: ${countOf(files, 'file')}, ${bytes} bytes` })
    return { from, to, files, bytes, skipped }
  },
  toModel: ({ from, to, files, bytes, skipped }) =>
    `Copied ${from} to ${to}: ${countOf(files, 'file')}, ${bytes} bytes${skipped > 0 ? `; ${skipped} links or special files left out` : ''}.`,
})
