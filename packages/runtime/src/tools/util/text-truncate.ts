import { defineTool } from '@tool-hub/core'
import { z } from 'zod'
import { cutToFit } from './cut-text.ts'

const MAX_COUNT = 1_000_000

/** Shortens a text and says how much was cut. */
export const textTruncate = defineTool({
  name: 'core/util.text.truncate',
  title: 'Truncate a text',
  description:
    'Shorten a text to at most maxChars characters (and maxBytes bytes of UTF-8, when given), with a marker that says how ' +
    'much was cut; a text that fits comes back as it is. Use it before passing a long text on. Not for reading a part of a ' +
    'file: read only that part.',
  input: z.strictObject({
    text: z.string().describe('The text to shorten.'),
    maxChars: z
      .int()
      .min(1)
      .max(MAX_COUNT)
      .default(30_000)
      .describe('The most characters (code points), marker included.'),
    maxBytes: z
      .int()
      .min(1)
      .max(4 * MAX_COUNT)
      .optional()
      .describe('The most bytes as UTF-8, marker included.'),
    keep: z
      .enum(['head', 'tail', 'middle'])
      .default('middle')
      .describe('head: keep the beginning; tail: the end; middle: both ends.'),
    marker: z
      .string()
      .max(200)
      .default('\n[… {cut} characters cut …]\n')
      .describe('What stands where text was cut; {cut} becomes the number of characters.'),
  }),
  output: z.strictObject({
    text: z.string().describe('The text, shortened if it had to be.'),
    cutChars: z.int().min(0).describe('How many characters of the original are missing.'),
    chars: z.int().min(0).describe('Characters of the text that came back.'),
    bytes: z.int().min(0).describe('Bytes of the text that came back, as UTF-8.'),
  }),
  examples: [
    { input: { text: 'a long log …', maxChars: 1000, keep: 'tail' }, note: 'the end of a log' },
    { input: { text: 'a long page …', maxBytes: 4096 }, note: 'both ends, at most 4 KB' },
  ],
  category: 'util',
  tags: ['text', 'truncate', 'shorten', 'limit'],
  version: '1.0.0',
  execute({ text, maxChars, maxBytes = Number.POSITIVE_INFINITY, keep, marker }, ctx) {
    const result = cutToFit(text, { maxChars, maxBytes, keep, marker })
    const summary = result.cutChars === 0 ? 'the text fits' : `cut ${result.cutChars} characters, kept the ${keep}`
    ctx.evidence({
      type: 'tool',
      ref: ctx.callId,
      summary: `${summary}: ${result.chars} characters, ${result.bytes} bytes`,
    })
    return result
  },
  toModel: ({ text }) => text,
})
