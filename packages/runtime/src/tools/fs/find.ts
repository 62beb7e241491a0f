import { defineTool } from '@tool-hub/core'
import { z } from 'zod'
import { countOf, joinPath, pathSchema, SEARCH_ALIASES } from './file-arguments.ts'

const input = z.strictObject({
  pattern: z.string().min(1).max(1_000).describe('A glob: *.ts at any depth, src/** from the folder on.'),
  path: pathSchema('The folder to look in.').default('.'),
  limit: z.int().min(1).max(5_000).default(1_000).describe('The most files to return.'),
})

/** Finds files by name. */
export const find = defineTool({
  name: 'core/fs.find',
  title: 'Find files',
  description:
    'Find files by a glob on their names, in a folder and below it. What .gitignore leaves out and hidden files are not ' +
    'looked at unless asked. Not for what is in files: search them.',
  input: input.extend({
    includeHidden: z.boolean().default(false).describe('Also names that begin with a dot.'),
    includeIgnored: z.boolean().default(false).describe('Also what .gitignore leaves out.'),
  }),
  output: z.strictObject({
    files: z.array(z.string()).describe('Paths, beginning with the folder as it was given.'),
    isComplete: z.boolean().describe('False when the limit left files out.'),
    searched: z.string().optional().describe('Real path of the folder; given when nothing was found.'),
  }),
  capabilities: ['read:fs'],
  targets: ({ path }) => ({ 'read:fs': path }),
  timeoutMs: 30_000,
  category: 'search',
  tags: ['file', 'find', 'glob'],
  version: '1.0.0',
  examples: [
    { input: { pattern: '*.md' } },
    { input: { pattern: 'src/**/*.test.ts', limit: 100 }, note: 'tests only' },
  ],
  dialects: {
    coding: {
      name: 'find',
      argumentAliases: { ...SEARCH_ALIASES, glob: 'pattern' },
      description: 'Find files by a glob (*.ts, src/**/*.md); respects .gitignore. One path a line.',
      input,
    },
  },
  async execute({ pattern, path, limit, includeHidden, includeIgnored }, ctx) {
    const most = Math.min(limit, ctx.constraints.maxResults ?? limit)
    const { files, isComplete } = await ctx.fs.find(path, { pattern, limit: most, includeHidden, includeIgnored })
    ctx.evidence({
      type: 'file',
      ref: path,
      summary: `${countOf(files.length, 'file')} for ${JSON.stringify(pattern)}`,
    })
    if (!isComplete)
      ctx.truncated(
        `Only the first ${countOf(files.length, 'file')}; the limit is ${most}. Narrow the pattern or the path, or raise limit.`,
      )
    const searched = files.length === 0 ? (await ctx.fs.stat(path)).path : undefined
    return { files: files.map((file) => joinPath(path, file)), isComplete, ...(searched && { searched }) }
  },
  toModel: ({ files, searched }) => {
    if (files.length === 0) return searched ? `No files found in ${searched}.` : 'No files found.'
    return files.join('\n')
  },
})
