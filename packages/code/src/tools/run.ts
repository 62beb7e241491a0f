import { defineTool } from '@tool-hub/core'
import { z } from 'zod'
import { scriptResultSchema } from '../schema.ts'
import { concludeScript, showScript } from './show-script.ts'

/** Longer than any script may take, so that a script ends by its own limit and says so. */
const CALL_TIMEOUT_MS = 3_600_000

/** Runs a script of the model. */
export const codeRun = defineTool({
  name: 'core/code.run',
  title: 'Run a script',
  description:
    'Run a JavaScript or TypeScript script that calls tools: await tools.core.fs.readText({ path }). Use it for many ' +
    'calls in one go: loops, filters, joins, Promise.all for calls at the same time. Only the value of the last ' +
    'expression (or of return) comes back, so return a small summary. The script also has input, console.log, ' +
    'tools.$search(query) and tools.$describe(name); no network, files or timers of its own. A call that fails throws ' +
    'an Error with code and hint. With the status suspended, people have to approve calls first: use core/code.wait. ' +
    'Not for a single call: make it directly.',
  input: z.strictObject({
    code: z.string().min(1).describe('The script. Top-level await and return work.'),
    input: z.unknown().optional().describe('A JSON value that the script reads as input. Default: null.'),
    timeoutMs: z.int().min(1).optional().describe('Longest time in milliseconds, without waiting for people.'),
    maxCalls: z.int().min(0).optional().describe('Maximum number of calls.'),
  }),
  output: scriptResultSchema,
  capabilities: ['code'],
  callers: ['direct'],
  timeoutMs: CALL_TIMEOUT_MS,
  category: 'code',
  tags: ['code', 'script', 'batch'],
  version: '1.0.0',
  examples: [
    { input: { code: 'input.map((word) => word.length)', input: ['one', 'three'] }, note: 'a value without calls' },
    {
      input: {
        code: "const { entries } = await tools.core.fs.listDir({ path: '.' })\nreturn entries.length",
      },
      note: 'counts the files of a folder',
    },
  ],
  execute: async ({ code, input, timeoutMs, maxCalls }, ctx) => {
    const onLog = (line: string) => ctx.progress(line)
    return concludeScript(await ctx.code.run({ code, input, timeoutMs, maxCalls }, { onLog }), ctx)
  },
  toModel: showScript,
})
