import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { defineTool, ToolError } from '@tool-hub/core'
import { z } from 'zod'

const decompress = promisify(gunzip)
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Decompresses gzip data into a text. */
export const gzipDecompress = defineTool({
  name: 'core/util.gzip.decompress',
  title: 'Decompress gzip',
  description:
    'Decompress base64 gzip data into a text. Use it to read what core/util.gzip.compress or a server gave you as gzip. ' +
    'Stops at maxBytes however small the data looks. Not for zip or tar archives, and not for binary content.',
  input: z.strictObject({
    base64: z.string().min(1).describe('The gzip data in base64.'),
    maxBytes: z.int().min(1024).max(10_485_760).default(5_242_880).describe('The most bytes the text may have.'),
  }),
  output: z.strictObject({
    text: z.string().describe('The decompressed text.'),
    bytes: z.int().min(0).describe('Bytes of the text as UTF-8.'),
  }),
  examples: [
    { input: { base64: 'H4sIAAAAAAAAA8tIzcnJBwCGphA2BQAAAA==' }, note: 'hello' },
    { input: { base64: 'H4sIAAAAAAAAA8tIzcnJBwCGphA2BQAAAA==', maxBytes: 1024 }, note: 'an own limit' },
  ],
  category: 'util',
  tags: ['gzip', 'decompress', 'base64'],
  version: '1.0.0',
  async execute({ base64, maxBytes }, ctx) {
    ctx.signal.throwIfAborted()
    const compressed = decodeBase64(base64)
    const data = await inflate(compressed, maxBytes)
    ctx.signal.throwIfAborted()
    const text = decodeUtf8(data)
    ctx.evidence({
      type: 'tool',
      ref: ctx.callId,
      summary: `decompressed ${compressed.length} bytes into ${data.length}`,
    })
    return { text, bytes: data.length }
  },
  toModel: ({ text }) => text,
})

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

function decodeBase64(base64: string): Buffer {
  const compact = base64.replaceAll(/\s/g, '')
  if (compact.length % 4 === 0 && BASE64.test(compact)) return Buffer.from(compact, 'base64')
  throw invalid('it is not base64.', 'Give the whole data in standard base64 (A-Z a-z 0-9 + /), padded with =.')
}

async function inflate(compressed: Buffer, maxBytes: number): Promise<Buffer> {
  try {
    return await decompress(compressed, { maxOutputLength: maxBytes })
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE')
      throw tooLarge(compressed.length, maxBytes, cause)
    throw invalid(`it is not gzip data (${(cause as Error).message}).`, 'Check that nothing was cut off.', cause)
  }
}

function decodeUtf8(data: Buffer): string {
  try {
    return utf8.decode(data)
  } catch (cause) {
    throw invalid(
      `its ${data.length} bytes are not UTF-8 text.`,
      'This tool is for text; binary content cannot be shown.',
      cause,
    )
  }
}

function tooLarge(compressed: number, maxBytes: number, cause: unknown): ToolError {
  return new ToolError('FILE_TOO_LARGE', `${compressed} bytes decompress to more than ${maxBytes}, the limit.`, {
    fix: {
      key: 'maxBytes',
      hint: 'Raise maxBytes (at most 10485760), or decompress it outside and read a part of the file.',
    },
    cause,
  })
}

function invalid(problem: string, hint: string, cause?: unknown): ToolError {
  return new ToolError('INPUT_SCHEMA_INVALID', `base64 cannot be decompressed: ${problem}`, {
    fix: { key: 'base64', hint },
    cause,
  })
}
