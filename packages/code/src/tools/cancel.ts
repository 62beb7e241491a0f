import { defineTool } from '@tool-hub/core'
import { z } from 'zod'
import { scriptResultSchema } from '../schema.ts'
import { noteOutcome, showScript } from './show-script.ts'

/** Ends a script. */
export const codeCancel = defineTool({
  name: 'core/code.cancel',
  title: 'Cancel a script',
  description:
    'End a script that runs or is suspended. What its calls have done stays; the result lists them. Not for undoing ' +
    'changes: use core/fs.undo or tell the person.',
  input: z.strictObject({ script: z.string().min(1).max(200).describe('Id of the script.') }),
  output: scriptResultSchema,
  capabilities: ['code'],
  callers: ['direct'],
  category: 'code',
  tags: ['code', 'script', 'cancel'],
  version: '1.0.0',
  examples: [
    { input: { script: 'cK3v9Qx1Tz-7' }, note: 'one that is suspended' },
    { input: { script: 'cQ0aZb7Lm2-41' }, note: 'one that another call still runs' },
  ],
  execute: async ({ script }, ctx) => noteOutcome(await ctx.code.cancel(script), ctx),
  toModel: showScript,
})
