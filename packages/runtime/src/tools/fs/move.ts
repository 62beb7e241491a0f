import { defineTool } from '@tool-hub/core'
import { z } from 'zod'
import { pathSchema } from './file-arguments.ts'

/** Moves or renames a file or a folder. */
export const move = defineTool({
  name: 'core/fs.move',
  title: 'Move a file or folder',
  description:
    'Move or rename a file or a folder; missing folders above the new place are made. Nothing is ever replaced: the new ' +
    'name must be free. Not to change what is in a file.',
  input: z.strictObject({
    from: pathSchema('What to move.'),
    to: pathSchema('Its new path, not only the folder to put it in.'),
    mkdirp: z.boolean().default(true).describe('Make missing folders above the new place.'),
  }),
  output: z.strictObject({ from: z.string(), to: z.string() }),
  capabilities: ['write:fs'],
  targets: ({ from, to }) => ({ 'write:fs': [from, to] }),
  timeoutMs: 60_000,
  category: 'write',
  tags: ['file', 'folder', 'rename'],
  version: '1.0.0',
  examples: [
    { input: { from: 'draft.md', to: 'final.md' } },
    { input: { from: 'old', to: 'archive/2025/old' }, note: 'a folder with all that is in it' },
  ],
  async execute({ from, to, mkdirp }, ctx) {
    await ctx.fs.move(from, to, { mkdirp })
    ctx.evidence({ type: 'file', ref: to, summary: `moved from ${from}` })
    return { from, to }
  },
  toModel: ({ from, to }) => `Moved ${from} to ${to}.`,
})
