import { defineTool } from '@tool-hub/core'
import { z } from 'zod'
import { scriptResultSchema } from '../schema.ts'
import { concludeScript, showScript } from './show-script.ts'

const CALL_TIMEOUT_MS = 3_600_000

/** Continues a suspended script. */
export const codeWait = defineTool({
  name: 'core/code.wait',
  title: 'Wait for a script',
  description:
    'Continue a script that core/code.run returned as suspended. Waits until somebody has answered its approvals, lets it ' +
    'run on from where it was, and returns its result; nothing that it did before is done again. Returns suspended again ' +
    'if nobody answers in time. Not for scripts that have completed: their value was returned.',
  input: z.strictObject({
    script: z.string().min(1).max(200).describe('Id of the script.'),
    timeoutMs: z.int().min(0).max(600_000).default(30_000).describe('How long to wait for people, in milliseconds.'),
  }),
  output: scriptResultSchema,
  capabilities: ['code'],
  callers: ['direct'],
  timeoutMs: CALL_TIMEOUT_MS,
  category: 'code',
  tags: ['code', 'script', 'wait'],
  version: '1.0.0',
  examples: [
    { input: { script: 'cK3v9Qx1Tz-7' }, note: 'waits up to 30 seconds for people' },
    { input: { script: 'cK3v9Qx1Tz-7', timeoutMs: 0 }, note: 'continues only if somebody has answered' },
  ],
  execute: async ({ script, timeoutMs }, ctx) => {
    const onLog = (line: string) => ctx.progress(line)
    return concludeScript(await ctx.code.wait(script, { timeoutMs, onLog }), ctx)
  },
  toModel: showScript,
})
