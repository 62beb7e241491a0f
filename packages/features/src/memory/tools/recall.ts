import { defineTool } from '@tool-hub/core'
import { z } from 'zod'
import { MEMORY_SCOPES } from '../types.ts'
import { memoryScope, memoryTags, noteEntry, showNotes } from './shapes.ts'

/** Finds notes of earlier calls and runs. */
export const memoryRecall = defineTool({
  name: 'core/memory.recall',
  title: 'Recall notes',
  description:
    'Search the notes that were written in earlier runs, or earlier in this one: preferences, decisions, facts about ' +
    'the work. Use it at the beginning of a task, and before you ask the person something they may have answered ' +
    'before. Notes match if they contain any word of the query; the best come first. To search files, use ' +
    'core/fs.searchText instead.',
  input: z.strictObject({
    query: z.string().trim().min(1).max(1_000).describe('Words to search for, in any language.'),
    scope: memoryScope
      .optional()
      .describe('Only notes of this run, of this session, of yours in all runs, or shared ones. Default: all.'),
    limit: z.int().min(1).max(50).default(10).describe('Maximum number of notes.'),
    tags: memoryTags.optional().describe('Only notes with one of these tags.'),
  }),
  output: z.strictObject({
    provider: z.string().describe('Where the notes are stored.'),
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
    { input: { query: 'staging server address', scope: 'shared', limit: 3 }, note: 'only shared notes' },
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
