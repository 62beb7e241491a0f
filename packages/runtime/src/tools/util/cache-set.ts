import { defineTool } from '@tool-hub/core'
import { z } from 'zod'

/** Stores a value for later calls of the run. */
export const cacheSet = defineTool({
  name: 'core/util.cache.set',
  title: 'Cache a value',
  description:
    'Keep a JSON value in memory under a key, for core/util.cache.get later in this run; an old value is replaced. Use it ' +
    'for results that are slow to get and needed again. The cache is bounded: old entries may be pushed out, and all go ' +
    'with the run. Not for secrets, and not for results somebody has to find later: write a file.',
  input: z.strictObject({
    key: z.string().min(1).max(256).describe('The key to keep it under.'),
    value: z.unknown().describe('Any JSON value.'),
    ttlMs: z
      .int()
      .min(1)
      .max(86_400_000)
      .optional()
      .describe('Milliseconds after which it is forgotten. Default: at the end of the run.'),
  }),
  output: z.strictObject({
    stored: z.literal(true).describe('Always true: a value that does not fit is an error.'),
    bytes: z.int().min(0).describe('Bytes the value takes.'),
    expiresAt: z.string().optional().describe('When it will be forgotten, ISO 8601; missing without ttlMs.'),
  }),
  examples: [
    { input: { key: 'weather:berlin', value: { celsius: 21 }, ttlMs: 600_000 }, note: 'for ten minutes' },
    { input: { key: 'page-3', value: 'the text' }, note: 'for the rest of the run' },
  ],
  category: 'util',
  tags: ['cache', 'memo', 'run'],
  version: '1.0.0',
  execute({ key, value, ttlMs }, ctx) {
    const { bytes } = ctx.cache.set(key, value ?? null, ttlMs === undefined ? {} : { ttlMs })
    ctx.evidence({ type: 'tool', ref: ctx.callId, summary: `cached ${bytes} bytes under ${JSON.stringify(key)}` })
    if (ttlMs === undefined) return { stored: true as const, bytes }
    return { stored: true as const, bytes, expiresAt: new Date(ctx.now() + ttlMs).toISOString() }
  },
  toModel: ({ bytes, expiresAt }) => `Cached ${bytes} bytes${expiresAt ? ` until ${expiresAt}` : ' for this run'}.`,
})
