import { defineTool } from '@tool-hub/core'
import { z } from 'zod'
import { memoryContent, memoryScope, memoryTags, showWritten, writtenEntry } from './shapes.ts'

/** Writes a note. Its target is that of a note that waits for review; `adjustMemoryTools` replaces it if none do. */
export const memoryWrite = defineTool({
  name: 'core/memory.write',
  title: 'Write a note',
  description:
    'Write a note for later runs: a preference of the person, a decision and its reason, a fact that was hard to find. ' +
    'One topic per note, in words that one would search for. A note may wait for review by a person. Not for secrets, ' +
    'for content that is in files already, or for the steps of the current task.',
  input: z.strictObject({
    content: memoryContent.describe('What to remember, in full sentences.'),
    scope: memoryScope
      .default('agent')
      .describe('Who can recall it: this run, this session, you in all your runs (agent), all agents (shared).'),
    tags: memoryTags.default([]).describe('Short words to find it by. Default: none.'),
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
      note: 'for all agents',
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
