import { defineTool, ToolError } from '@tool-hub/core'
import { z } from 'zod'

const schema = z.record(z.string(), z.unknown())

/** Returns tools with their schemas. */
export const describe = defineTool({
  name: 'core/tool.describe',
  title: 'Describe tools',
  description: 'Get the arguments of tools that a search found.',
  input: z.strictObject({ names: z.array(z.string().min(1).max(128)).min(1).max(20) }),
  output: z.strictObject({
    tools: z
      .array(
        z.strictObject({
          name: z.string().describe('The name to call it by.'),
          tool: z.string().describe('Canonical name.'),
          description: z.string().describe('When to use it.'),
          parameters: schema.describe('JSON Schema of its arguments.'),
          output: schema.optional().describe('JSON Schema of its result.'),
        }),
      )
      .describe('The tools in the order of the names.'),
    missing: z
      .array(z.strictObject({ name: z.string(), hint: z.string() }))
      .describe('Names that no visible tool has, each with what to do.'),
  }),
  capabilities: ['discovery'],
  targets: () => ({ discovery: [] }),
  category: 'tool',
  tags: ['tool', 'schema'],
  version: '1.0.0',
  examples: [
    { input: { names: ['core/fs.readText'] } },
    { input: { names: ['core_util_time_now', 'core/fs.stat'] }, note: 'By any of their names.' },
  ],
  execute: async ({ names }, ctx) => {
    const { tools, missing } = await ctx.toolSearch.describe(names)
    const [first] = missing
    if (tools.length === 0 && first)
      throw new ToolError('TOOL_NOT_FOUND', `Unknown tool ${JSON.stringify(first.name)}.`, { hint: first.hint })
    return {
      tools: tools.map(({ output, ...tool }) => ({
        ...tool,
        parameters: { ...tool.parameters },
        ...(output && { output: { ...output } }),
      })),
      missing: missing.map((each) => ({ ...each })),
    }
  },
  toModel: ({ tools, missing }) =>
    [
      ...tools.map(({ name, description, parameters }) => JSON.stringify({ name, description, parameters })),
      ...missing.map(({ name, hint }) => `Unknown tool ${JSON.stringify(name)}. ${hint}`),
    ].join('\n'),
})
