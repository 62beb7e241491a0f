import { defineTool } from '@tool-hub/core'
import { z } from 'zod'
import { pathSchema } from './file-arguments.ts'

/** Describes a path. */
export const stat = defineTool({
  name: 'core/fs.stat',
  title: 'Facts about a file',
  description:
    'Tell what a path is: file or folder, its size, the time of its last change, its permissions. Use it before you read ' +
    'something large, or to see whether something exists. Not for what is in it.',
  input: z.strictObject({ path: pathSchema('The file or folder to look at.') }),
  output: z.strictObject({
    path: z.string().describe('The path as it was given.'),
    type: z.enum(['file', 'directory', 'symlink', 'other']),
    bytes: z.int().min(0),
    modified: z.string().describe('Time of the last change, ISO 8601.'),
    mode: z.string().describe('Permissions in octal: 0644.'),
  }),
  capabilities: ['read:fs'],
  targets: ({ path }) => ({ 'read:fs': path }),
  timeoutMs: 10_000,
  category: 'read',
  tags: ['file', 'folder', 'size'],
  version: '1.0.0',
  examples: [
    { input: { path: '.' } },
    { input: { path: 'data/export.csv' }, note: 'NOT_FOUND when it does not exist' },
  ],
  async execute({ path }, ctx) {
    const { type, bytes, modified, mode } = await ctx.fs.stat(path)
    ctx.evidence({ type: 'file', ref: path, summary: `${type}, ${bytes} bytes, changed ${modified}` })
    return { path, type, bytes, modified, mode: mode.toString(8).padStart(4, '0') }
  },
  toModel: ({ path, type, bytes, modified, mode }) =>
    `${path}: ${type}, ${bytes} bytes, changed ${modified}, mode ${mode}`,
})
