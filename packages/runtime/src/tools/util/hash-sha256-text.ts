import { hash } from 'node:crypto'
import { defineTool } from '@tool-hub/core'
import { z } from 'zod'

/** Hashes a text. */
export const hashSha256Text = defineTool({
  name: 'core/util.hash.sha256Text',
  title: 'SHA-256 of a text',
  description:
    'Compute the SHA-256 of a text as UTF-8, in hex. Use it to compare texts, to name content or to check a given hash. ' +
    'Not for files, whose text would first have to be read into the conversation, and not for passwords.',
  input: z.strictObject({ text: z.string().describe('The text to hash.') }),
  output: z.strictObject({
    sha256: z.string().describe('64 hex digits, lower case.'),
    bytes: z.int().min(0).describe('Bytes that were hashed.'),
  }),
  examples: [{ input: { text: 'hello' } }, { input: { text: '' }, note: 'the hash of nothing' }],
  category: 'util',
  tags: ['hash', 'sha256', 'checksum'],
  version: '1.0.0',
  execute({ text }, ctx) {
    const sha256 = hash('sha256', text, 'hex')
    const bytes = Buffer.byteLength(text)
    ctx.evidence({ type: 'tool', ref: ctx.callId, summary: `sha256 ${sha256} of ${bytes} bytes` })
    return { sha256, bytes }
  },
  toModel: ({ sha256 }) => sha256,
})
