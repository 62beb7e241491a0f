import { defineTool, ToolError } from '@tool-hub/core'
import { z } from 'zod'

/** Calls a tool by name, for models whose list of tools cannot grow. */
export const call = defineTool({
  name: 'core/tool.call',
  title: 'Call a tool',
  description: 'Call a tool that is not listed here, with the arguments that its description has.',
  input: z.strictObject({
    name: z.string().min(1).max(128),
    input: z.record(z.string(), z.unknown()).default({}),
  }),
  output: z.unknown().describe('The result of the tool that is called.'),
  capabilities: ['discovery'],
  targets: () => ({ discovery: [] }),
  category: 'tool',
  tags: ['tool', 'call'],
  version: '1.0.0',
  examples: [
    { input: { name: 'core/util.time.now', input: {} } },
    { input: { name: 'core_util_hash_sha256Text', input: { text: 'abc' } }, note: 'By the name that models use.' },
  ],
  standsFor: ({ name, input }) => ({ tool: name, input }),
  execute: () => {
    throw new ToolError('INTERNAL', 'The hub makes the call that core/tool.call stands for.')
  },
})
