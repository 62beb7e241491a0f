import { defineTool } from '@tool-hub/core'
import { z } from 'zod'
import { memoryContent, memoryScope, memoryTags, showWritten, writtenEntry } from './shapes.ts'

/** Changes a note. As with `memoryWrite`, its target is that of a change that waits for review. */
export const memoryUpdate = defineTool({
  name: 'core/memory.update',
  title: 'Change a note',
  description:
    'Change the text or the tags of a note that is out of date or wrong. Use the id and the scope that ' +
    'core/memory.recall returned. A change may wait for review by a person; the old note stays until then. To add ' +
    'something new, use core/memory.write instead.',
  input: z.strictObject({
    id: z.string().min(1).max(200).describe('Id of the note.'),
    scope: memoryScope.describe('The scope of the note.'),
    content: memoryContent.optional().describe('The complete new text. Default: unchanged.'),
    tags: memoryTags.optional().describe('The complete list of tags. Default: unchanged.'),
  }),
  output: writtenEntry,
  capabilities: ['memory'],
  targets: ({ scope }) => ({ memory: `candidate/${scope}` }),
  category: 'memory',
  tags: ['memory', 'write', 'change'],
  version: '1.0.0',
  examples: [
    { input: { id: 'note-4f1d2a9b8c7e6f50', scope: 'agent', content: 'The person prefers spaces in Go code now.' } },
    { input: { id: 'note-4f1d2a9b8c7e6f50', scope: 'shared', tags: ['release', 'ci'] }, note: 'only the tags' },
  ],
  async execute({ id, scope, content, tags }, ctx) {
    const change = { id, scope, ...(content !== undefined && { content }), ...(tags && { tags }) }
    const written = await ctx.memory.update(change)
    ctx.evidence({ type: 'tool', ref: written.id, summary: `${written.state} change of ${id}` })
    return written
  },
  toModel: showWritten,
})
