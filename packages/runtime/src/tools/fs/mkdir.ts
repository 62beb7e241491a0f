import { defineTool } from '@tool-hub/core'
import { z } from 'zod'
import { pathSchema } from './file-arguments.ts'

/** Creates a folder. */
export const mkdir = defineTool({
  name: 'core/fs.mkdir',
  title: 'Make a folder',
  description:
    'Make a folder and the missing ones above it; one that exists already is fine. Not needed before writing a file: that ' +
    'makes its folders.',
  input: z.strictObject({
    path: pathSchema('The folder to make.'),
    mkdirp: z.boolean().default(true).describe('Make missing folders above it.'),
  }),
  output: z.strictObject({
    path: z.string().describe('The path as it was given.'),
    created: z.boolean().describe('False when it existed already.'),
  }),
  capabilities: ['write:fs'],
  targets: ({ path }) => ({ 'write:fs': path }),
  timeoutMs: 10_000,
  category: 'write',
  tags: ['folder', 'make'],
  version: '1.0.0',
  examples: [{ input: { path: 'reports' } }, { input: { path: 'reports/2026/january' }, note: 'with those above it' }],
  async execute({ path, mkdirp }, ctx) {
    const { created } = await ctx.fs.makeFolder(path, { mkdirp })
    ctx.evidence({ type: 'file', ref: path, summary: created ? 'folder made' : 'folder existed already' })
    return { path, created }
  },
  toModel: ({ path, created }) => (created ? `Made the folder ${path}.` : `The folder ${path} existed already.`),
})
