import { defineTool } from '@tool-hub/core'
import { z } from 'zod'

/** Finds tools by what they do. */
export const search = defineTool({
  name: 'core/tool.search',
  title: 'Find tools',
  description: 'Find tools by what they do. Describe a match to get its arguments, then call it.',
  input: z.strictObject({
    query: z.string().min(1).max(2_000).describe('What the tool should do'),
    server: z.string().max(128).optional(),
    limit: z.int().min(1).max(50).default(5),
  }),
  output: z.strictObject({
    matches: z
      .array(
        z.strictObject({
          name: z.string().describe('The name to call it by.'),
          tool: z.string().describe('Canonical name.'),
          summary: z.string().describe('The first sentence of its description.'),
          arguments: z.array(z.string()).describe('Its arguments; optional ones end in "?".'),
        }),
      )
      .describe('The tools that fit, best first.'),
    otherServers: z.array(z.string()).describe('Servers with tools, but none among the matches.'),
  }),
  capabilities: ['discovery'],
  // Looking at definitions uses no capability, so that a caller with a closed list of them can search, too.
  targets: () => ({ discovery: [] }),
  category: 'tool',
  tags: ['tool', 'search'],
  version: '1.0.0',
  examples: [
    { input: { query: 'read a file' } },
    { input: { query: 'current time', server: 'core/util', limit: 1 }, note: 'Only tools of one server.' },
  ],
  execute: async ({ query, server, limit }, ctx) => {
    const { matches, otherServers } = await ctx.toolSearch.search(query, { server, limit })
    return {
      matches: matches.map((match) => ({ ...match, arguments: [...match.arguments] })),
      otherServers: [...otherServers],
    }
  },
  toModel: ({ matches, otherServers }) => {
    const lines = matches.map((match) => `${match.name}(${match.arguments.join(', ')}): ${match.summary}`)
    const others = otherServers.length > 0 ? [`Other servers: ${otherServers.join(', ')}`] : []
    return [...(lines.length > 0 ? lines : ['No tool has these words. Try others.']), ...others].join('\n')
  },
})
