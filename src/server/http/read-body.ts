import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { turnFor } from '../../lib/index.ts'
import { checkJsonEntries } from '../../limits/index.ts'
import { HttpRefusal } from './answers.ts'

/** What is still read of a body that nobody wants, so that the client comes to read the answer; then it is cut off. */
const MAX_DISCARDED_BYTES = 16 * 1024 * 1024

/** What a JSON body may have. */
export interface BodyLimits {
  readonly maxBytes: number
  /** Keys and elements, counted before the text is parsed. */
  readonly maxEntries: number
}

/** The JSON of a body, or `{}` when it is empty; counted while it comes, whatever its head says of its length. */
export async function readJson(request: IncomingMessage, { maxBytes, maxEntries }: BodyLimits): Promise<unknown> {
  checkType(request, 'application/json')
  const text = toText(await readBytes(request, maxBytes))
  if (text === '') return {}
  checkJsonEntries(text, maxEntries)
  const waiting = turnFor(text.length)
  if (waiting) await waiting
  try {
    return JSON.parse(text)
  } catch {
    throw new HttpRefusal(400, 'INPUT_SCHEMA_INVALID', 'The body is not valid JSON.', { hint: 'Send one JSON value.' })
  }
}

/** The fields of a form that a page sent. */
export async function readForm(request: IncomingMessage, maxBytes: number): Promise<URLSearchParams> {
  checkType(request, 'application/x-www-form-urlencoded')
  return new URLSearchParams(toText(await readBytes(request, maxBytes)))
}

/** Takes what still comes of a body and forgets it, up to a limit. */
export function discardBody(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return
  let discarded = 0
  request.on('data', (chunk: Buffer) => {
    discarded += chunk.length
    if (discarded > MAX_DISCARDED_BYTES) request.destroy()
  })
  request.resume()
}

function checkType({ headers }: IncomingMessage, wanted: string): void {
  const type = headers['content-type']
  const isEmpty = headers['content-length'] === '0' || !(headers['content-length'] || headers['transfer-encoding'])
  if (type === undefined && isEmpty) return
  if (type !== wanted && (type ?? '').split(';', 1)[0]!.trim().toLowerCase() !== wanted) {
    throw new HttpRefusal(415, 'INPUT_SCHEMA_INVALID', `The body must be ${wanted}.`, {
      hint: `Send content-type: ${wanted}.`,
    })
  }
  const encoding = headers['content-encoding']
  if (encoding === undefined || encoding === 'identity') return
  throw new HttpRefusal(415, 'INPUT_SCHEMA_INVALID', 'A compressed body is not read.', { hint: 'Send it as it is.' })
}

function toText(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString()
  throw new HttpRefusal(400, 'INPUT_SCHEMA_INVALID', 'The body is not UTF-8.')
}

function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const declared = request.headers['content-length']
  if (declared !== undefined && Number(declared) > maxBytes) return Promise.reject(tooLarge(maxBytes))
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    // Listeners stay: taking them off costs more than what they still hear.
    request.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length <= maxBytes) return void chunks.push(chunk)
      if (length - chunk.length <= maxBytes) reject(tooLarge(maxBytes))
      chunks.length = 0
      if (length > maxBytes + MAX_DISCARDED_BYTES) request.destroy()
    })
    request.on('end', () => {
      if (length <= maxBytes) resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, length))
    })
    request.on('close', () => {
      if (!request.complete)
        reject(new HttpRefusal(400, 'CLIENT_GONE', 'The connection was closed before the body was there.'))
    })
    request.on('error', ignore)
  })
}

/** `close` follows and says the same. */
function ignore(): void {}

function tooLarge(maxBytes: number): HttpRefusal {
  return new HttpRefusal(413, 'FILE_TOO_LARGE', `The body has more than ${maxBytes} bytes.`, {
    hint: 'Send less, or put large content in a file that the tool reads.',
  })
}
