import { defineTool } from '@tool-hub/core'
import { z } from 'zod'
import { memoryScope } from './shapes.ts'

/** Deletes a note. */
export const memoryForget = defineTool({
  name: 'core/memory.forget',
  title: 'Forget a note',
  description:
    'Delete a note permanently, because the person asks for it, or because it is wrong and needs no replacement. Use ' +
    'the id and the scope that core/memory.recall returned. To correct a note, use core/memory.update instead.',
  input: z.strictObject({
    id: z.string().min(1).max(200).describe('Id of the note.'),
    scope: memoryScope.describe('The scope of the note.'),
  }),
  output: z.strictObject({ id: z.string().describe('Id of the deleted note.'), forgotten: z.literal(true) }),
  capabilities: ['memory'],
  targets: ({ scope }) => ({ memory: scope }),
  category: 'memory',
  tags: ['memory', 'forget', 'delete'],
  version: '1.0.0',
  examples: [
    { input: { id: 'note-4f1d2a9b8c7e6f50', scope: 'agent' } },
    { input: { id: 'note-00aa11bb22cc33dd', scope: 'shared' }, note: 'a shared note' },
  ],
  async execute({ id, scope }, ctx) {
    await ctx.memory.forget({ id, scope })
    ctx.evidence({ type: 'tool', ref: id, summary: 'forgot a note' })
    return { id, forgotten: true as const }
  },
  toModel: ({ id }) => `Forgot ${id}.`,
})
