import { z } from 'zod'
import { defineTool } from '../../../core/index.ts'
import { MEMORY_SCOPES } from '../types.ts'
import { memoryScope, memoryTags, noteEntry, showNotes } from './shapes.ts'

/** Finds what was written down before. */
export const memoryRecall = defineTool({
  name: 'core/memory.recall',
  title: 'Recall notes',
  description:
    'Look for notes that were written down in earlier runs, or earlier in this one: preferences, decisions, facts about ' +
    'the work. Use it at the beginning of a task, and before asking the person something they may have said already. ' +
    'Any words of the query may match; the best come first. Not for files: use core/fs.searchText.',
  input: z.strictObject({
    query: z.string().trim().min(1).max(1_000).describe('Words that the notes hold, in any language.'),
    scope: memoryScope.optional().describe('Only notes of this run, this session, yours in all runs, or shared ones.'),
    limit: z.int().min(1).max(50).default(10).describe('How many notes at most.'),
    tags: memoryTags.optional().describe('Only notes with one of these tags.'),
  }),
  output: z.strictObject({
    provider: z.string().describe('Who keeps the notes.'),
    notes: z.array(noteEntry).describe('The notes, best first.'),
  }),
  capabilities: ['memory'],
  targets: ({ scope }) => ({ memory: scope === undefined ? [...MEMORY_SCOPES] : scope }),
  category: 'memory',
  tags: ['memory', 'search', 'recall'],
  version: '1.0.0',
  maxOutputChars: 60_000,
  examples: [
    { input: { query: 'preferred code style' } },
    { input: { query: 'staging server address', scope: 'shared', limit: 3 }, note: 'what everybody may know' },
  ],
  dialects: { coding: { name: 'memory_search' }, files: { name: 'recall_memory' } },
  async execute({ query, scope, limit, tags }, ctx) {
    const wanted = Math.min(limit, ctx.constraints.maxResults ?? limit)
    const notes = await ctx.memory.recall({ query, limit: wanted, ...(scope && { scope }), ...(tags && { tags }) })
    const { provider } = ctx.memory
    ctx.evidence({ type: 'tool', ref: `memory:${provider}`, summary: `recalled ${notes.length} notes` })
    return {
      provider,
      notes: notes.map(({ id, scope, content, tags, createdAt, isUntrusted }) => ({
        id,
        scope,
        content,
        tags: [...tags],
        ...(createdAt > 0 && { writtenAt: new Date(createdAt).toISOString() }),
        ...(isUntrusted && { untrusted: true as const }),
      })),
    }
  },
  toModel: ({ notes }) => showNotes(notes),
})
