import { z } from 'zod'
import { defineTool } from '../../../core/index.ts'
import { memoryScope } from './shapes.ts'

/** Takes a note away. */
export const memoryForget = defineTool({
  name: 'core/memory.forget',
  title: 'Forget a note',
  description:
    'Take a note away for good: because the person asks for it, or because it is wrong and nothing takes its place. Use ' +
    'the id and the scope that core/memory.recall gave. Not for correcting a note: use core/memory.update.',
  input: z.strictObject({
    id: z.string().min(1).max(200).describe('Of the note.'),
    scope: memoryScope.describe('The scope of the note.'),
  }),
  output: z.strictObject({ id: z.string().describe('Of the note that is gone.'), forgotten: z.literal(true) }),
  capabilities: ['memory'],
  targets: ({ scope }) => ({ memory: scope }),
  category: 'memory',
  tags: ['memory', 'forget', 'delete'],
  version: '1.0.0',
  examples: [
    { input: { id: 'note-4f1d2a9b8c7e6f50', scope: 'agent' } },
    { input: { id: 'note-00aa11bb22cc33dd', scope: 'shared' }, note: 'for everybody' },
  ],
  async execute({ id, scope }, ctx) {
    await ctx.memory.forget({ id, scope })
    ctx.evidence({ type: 'tool', ref: id, summary: 'forgot a note' })
    return { id, forgotten: true as const }
  },
  toModel: ({ id }) => `Forgot ${id}.`,
})
