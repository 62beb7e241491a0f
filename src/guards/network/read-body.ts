import { pipeline, type Readable, type Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { ToolError } from '../../errors.ts'

const DECODERS = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
])
const MOST_ENCODINGS = 3

/** Reads a whole body after decompression, and stops at the first byte over the limit. */
export async function readBody(body: Readable, encodings: string | undefined, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of decode(body, encodings)) {
    bytes += chunk.length
    // Written so that a limit which is no number stops everything.
    if (!(bytes <= limit)) throw tooLarge(`more than ${limit}`, limit)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, bytes)
}

/** The error of a response over its limit. */
export function tooLarge(size: number | string, limit: number): ToolError {
  return new ToolError('HTTP_TOO_LARGE', `The response has ${size} bytes, the limit is ${limit}.`, {
    details: { limit },
  })
}

function decode(body: Readable, encodings = 'identity'): Readable {
  const names = encodings
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity')
  if (names.length === 0) return body
  if (names.length > MOST_ENCODINGS) unreadable(encodings)
  const decoders = names.reverse().map((name) => DECODERS.get(name)?.() ?? unreadable(encodings))
  // The reader below hears of any error; the callback is only there because pipeline wants one.
  return pipeline([body, ...decoders], () => {}) as Transform
}

function unreadable(encodings: string): never {
  throw new ToolError(
    'UPSTREAM_ERROR',
    `The response is encoded as ${JSON.stringify(encodings.slice(0, 100))}, which cannot be read.`,
    {
      retryable: false,
    },
  )
}
