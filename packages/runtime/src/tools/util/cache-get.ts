import { defineTool } from '@tool-hub/core'
import { z } from 'zod'

/** Reads a value that an earlier call of the run stored. */
export const cacheGet = defineTool({
  name: 'core/util.cache.get',
  title: 'Get a cached value',
  description:
    'Get a value that core/util.cache.set kept earlier in this run. Use it before repeating slow or costly work. A key ' +
    'that was never set, ran out of time or was pushed out gives found: false, not an error. Not for anything that has ' +
    'to outlive the run: write a file.',
  input: z.strictObject({ key: z.string().min(1).max(256).describe('The key it was set with.') }),
  output: z.strictObject({
    found: z.boolean().describe('Whether there is a value.'),
    value: z.unknown().optional().describe('The value; missing when nothing was found.'),
  }),
  examples: [{ input: { key: 'weather:berlin' } }, { input: { key: 'page-3' }, note: 'found: false when never set' }],
  category: 'util',
  tags: ['cache', 'memo', 'run'],
  version: '1.0.0',
  execute({ key }, ctx) {
    const entry = ctx.cache.get(key)
    ctx.evidence({
      type: 'tool',
      ref: ctx.callId,
      summary: `cache ${entry ? 'hit' : 'miss'} for ${JSON.stringify(key)}`,
    })
    return entry ? { found: true, value: entry.value } : { found: false }
  },
  toModel: ({ found, value }) => (found ? JSON.stringify(value) : 'Nothing is cached under this key.'),
})
