import { pipeline, Readable, type Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { ToolError } from '@tool-hub/core'
import type { Hop } from './http-request.ts'
import type { Transfer } from './transfer.ts'

const DECODERS = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
])
const MAX_ENCODINGS = 3
const DRAINED_BYTES = 16_384

/** How much of a body is taken, in bytes after decompression. */
export interface BodyLimit {
  readonly maxBytes: number
  /** Says how the limit can be raised. */
  readonly hint?: () => string
  /** Whether a longer body fails, is cut at the limit, or continues as a stream. */
  readonly overflow: 'fail' | 'cut' | 'stream'
}

/** A body or its beginning. */
export interface WholeBody {
  readonly bytes: Buffer
  readonly isCut: boolean
}

/** Reads a whole body; nothing of it is left on the connection. */
export async function readWholeBody(hop: Hop, transfer: Transfer, limit: BodyLimit): Promise<WholeBody> {
  try {
    const { maxBytes } = limit
    const chunks = isPlain(hop, transfer, limit)
      ? await transfer.collect(maxBytes)
      : await collect(decoded(transfer), maxBytes)
    return withinLimit(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks), limit)
  } finally {
    transfer.discard()
  }
}

/** The bytes up to the limit. */
export function withinLimit(bytes: Buffer, limit: BodyLimit): WholeBody {
  const { maxBytes, overflow } = limit
  if (bytes.length <= maxBytes) return { bytes, isCut: false }
  if (overflow !== 'cut') throw tooLarge(`more than ${maxBytes}`, limit)
  return { bytes: bytes.subarray(0, maxBytes), isCut: true }
}

/** Streams a body, decompressed and within the limit; calls `onCut` if there was more. */
export async function* readBodyChunks(
  hop: Hop,
  transfer: Transfer,
  limit: BodyLimit,
  onCut: () => void,
): AsyncGenerator<Buffer, void> {
  const { maxBytes, overflow } = limit
  let bytes = 0
  try {
    for await (const chunk of isPlain(hop, transfer, limit) ? transfer : decoded(transfer)) {
      bytes += chunk.length
      if (bytes <= maxBytes) {
        yield chunk
        continue
      }
      if (overflow !== 'cut') throw tooLarge(`more than ${maxBytes}`, limit)
      onCut()
      yield chunk.subarray(0, chunk.length - (bytes - maxBytes))
      return
    }
  } finally {
    transfer.discard()
  }
}

/** Reads and drops a short body, so that its connection can be reused; a long one is not worth it. */
export async function drain(transfer: Transfer): Promise<void> {
  await transfer.collect(DRAINED_BYTES)
  transfer.discard()
}

/** Whether the body is not compressed; throws if its headers already exceed the limit. */
function isPlain({ method }: Hop, { status, headers }: Transfer, limit: BodyLimit): boolean {
  const { maxBytes, overflow } = limit
  const announced = Number(headers['content-length'])
  // An empty body is not valid gzip, whatever the headers say about it.
  if (method === 'HEAD' || status === 204 || status === 304 || announced === 0) return true
  if (announced > maxBytes && overflow !== 'cut') throw tooLarge(announced, limit)
  const encoding = headers['content-encoding']
  return encoding === undefined || encoding === 'identity'
}

async function collect(body: AsyncIterable<Buffer>, limit: number): Promise<Buffer[]> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    bytes += chunk.length
    // Written so that a limit that is not a number stops everything.
    if (!(bytes <= limit)) break
  }
  return chunks
}

function decoded(transfer: Transfer): AsyncIterable<Buffer> {
  const encodings = transfer.headers['content-encoding'] ?? ''
  const names = encodings
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity')
  if (names.length === 0) return transfer
  if (names.length > MAX_ENCODINGS) unreadable(encodings)
  const decoders = names.reverse().map((name) => DECODERS.get(name)?.() ?? unreadable(encodings))
  // The reader is notified of any error; the callback is only there because pipeline wants one.
  return pipeline([Readable.from(transfer), ...decoders], () => {}) as Transform
}

function tooLarge(size: number | string, { maxBytes: limit, hint }: BodyLimit): ToolError {
  return new ToolError('HTTP_TOO_LARGE', `The response has ${size} bytes, the limit is ${limit}.`, {
    hint: hint?.(),
    details: { limit },
  })
}

function unreadable(encodings: string): never {
  throw new ToolError(
    'UPSTREAM_ERROR',
    `The response is encoded as ${JSON.stringify(encodings.slice(0, 100))}, which cannot be read.`,
    { retryable: false },
  )
}
