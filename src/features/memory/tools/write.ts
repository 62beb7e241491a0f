import { z } from 'zod'
import { defineTool } from '../../../core/index.ts'
import { memoryContent, memoryScope, memoryTags, showWritten, writtenEntry } from './shapes.ts'

/** Writes something down for later. Its target says that a note waits for review; `memoryForms` has the other form. */
export const memoryWrite = defineTool({
  name: 'core/memory.write',
  title: 'Write a note',
  description:
    'Write down something that later runs should know: a preference of the person, a decision and its reason, a fact ' +
    'that was hard to find. One thing a note, in words that somebody would search for. A note may wait until a person ' +
    'has looked at it. Not for secrets, not for what is in files already, not for the steps of the present task.',
  input: z.strictObject({
    content: memoryContent.describe('What to remember, in full sentences.'),
    scope: memoryScope.default('agent').describe('For whom: this run, this session, you in all your runs, everybody.'),
    tags: memoryTags.default([]).describe('Short words to find it by.'),
  }),
  output: writtenEntry,
  capabilities: ['memory'],
  targets: ({ scope }) => ({ memory: `candidate/${scope}` }),
  category: 'memory',
  tags: ['memory', 'write', 'remember'],
  version: '1.0.0',
  examples: [
    { input: { content: 'The person prefers tabs over spaces in Go code.', tags: ['style', 'go'] } },
    {
      input: { content: 'Releases are cut on Thursdays; the pipeline is in ci/release.yaml.', scope: 'shared' },
      note: 'for everybody',
    },
  ],
  dialects: { files: { name: 'write_memory' } },
  async execute({ content, scope, tags }, ctx) {
    const written = await ctx.memory.write({ content, scope, tags })
    ctx.evidence({ type: 'tool', ref: written.id, summary: `${written.state} note, ${content.length} characters` })
    return written
  },
  toModel: showWritten,
})
