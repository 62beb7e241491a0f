import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { defineTool, ToolError } from '@tool-hub/core'
import { z } from 'zod'

const MAX_BYTES = 10_485_760
const compress = promisify(gzip)

/** Compresses a text. */
export const gzipCompress = defineTool({
  name: 'core/util.gzip.compress',
  title: 'Compress with gzip',
  description:
    'Compress a text (as UTF-8) with gzip; the result is base64. Use it when somebody asks for gzip, or to store a large ' +
    'text in little space. Not to save room in the conversation: base64 cannot be read there.',
  input: z.strictObject({ text: z.string().describe('The text to compress, at most 10 MB.') }),
  output: z.strictObject({
    base64: z.string().describe('The gzip data in base64.'),
    bytes: z.int().min(0).describe('Bytes of the gzip data.'),
    originalBytes: z.int().min(0).describe('Bytes of the text.'),
  }),
  examples: [{ input: { text: 'hello hello hello' } }, { input: { text: '' }, note: 'an empty text is fine' }],
  category: 'util',
  tags: ['gzip', 'compress', 'base64'],
  version: '1.0.0',
  async execute({ text }, ctx) {
    ctx.signal.throwIfAborted()
    const originalBytes = Buffer.byteLength(text)
    if (originalBytes > MAX_BYTES) throw tooLarge(originalBytes)
    const data = await compress(text)
    ctx.signal.throwIfAborted()
    ctx.evidence({ type: 'tool', ref: ctx.callId, summary: `compressed ${originalBytes} bytes into ${data.length}` })
    return { base64: data.toString('base64'), bytes: data.length, originalBytes }
  },
  toModel: ({ base64, bytes, originalBytes }) => `${originalBytes} bytes became ${bytes}: ${base64}`,
})

function tooLarge(bytes: number): ToolError {
  return new ToolError('FILE_TOO_LARGE', `The text has ${bytes} bytes, the limit is ${MAX_BYTES}.`, {
    hint: 'Compress it in parts, or write it to a file.',
  })
}
