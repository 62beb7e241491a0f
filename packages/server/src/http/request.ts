import { isUtf8 } from 'node:buffer'
import { setMaxListeners } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { type Awaitable, callerGone } from '@tool-hub/core'
import { after, turnFor } from '@tool-hub/core/lib'
import { checkJsonEntries } from '@tool-hub/runtime/limits'
import type { AuthRequest, Refusal } from '../auth/auth-request.ts'
import type { Authenticator, Identity } from '../auth/authenticator.ts'
import { HttpRefusal, refusalFrom } from './answers.ts'

/** Headers that must not be repeated: a proxy in front could read another one than we do. */
const ONCE: ReadonlySet<string> = new Set([
  'authorization',
  'content-encoding',
  'content-type',
  'host',
  'idempotency-key',
  'last-event-id',
  'origin',
  'x-tool-hub-csrf',
])
/** The number of headers that Node reads. */
export const MAX_HEADERS = 100
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'])

/** Checks method, target and headers of a request; returns a refusal if one is invalid. */
export function checkHead({ method = '', url = '', headers, rawHeaders }: IncomingMessage): HttpRefusal | undefined {
  if (!METHODS.has(method)) return new HttpRefusal(405, 'INPUT_SCHEMA_INVALID', 'This method is not served.')
  // Only proxies get a whole URL; some parsers read a backslash as a slash.
  if (!url.startsWith('/') || url.includes('\\')) {
    return new HttpRefusal(400, 'INPUT_SCHEMA_INVALID', 'The target of a request is a path that begins with /.')
  }
  // Node drops further headers, and a second Authorization could be among them.
  if (rawHeaders.length >= MAX_HEADERS * 2)
    return new HttpRefusal(431, 'INPUT_SCHEMA_INVALID', `A request has fewer than ${MAX_HEADERS} headers.`)
  // As many names as headers: none is repeated. Nearly always so.
  if (Object.keys(headers).length * 2 === rawHeaders.length) return undefined
  const doubled = findDoubled(rawHeaders)
  if (doubled === undefined) return undefined
  return new HttpRefusal(400, 'INPUT_SCHEMA_INVALID', `The header ${doubled} came more than once.`)
}

/** Checks `Host` and `Origin` of a request to an open route; throws a refusal. */
export function checkOpen(authenticator: Authenticator, request: IncomingMessage): void {
  const refusal = authenticator.inspect(new RequestHeaders(request))
  if (refusal) throw refusalFrom(refusal)
}

function findDoubled(rawHeaders: readonly string[]): string | undefined {
  let seen: string[] | undefined
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!.toLowerCase()
    if (!ONCE.has(name)) continue
    if (seen?.includes(name)) return name
    seen ??= []
    seen.push(name)
  }
  return undefined
}

/** Authenticates a request; throws a refusal. */
export function authenticate(authenticator: Authenticator, request: IncomingMessage): Awaitable<Identity> {
  return after(authenticator.authenticate(new RequestHeaders(request)), orThrow)
}

/** A request for the authenticator. Headers that matter for authentication were checked to be unique. */
export class RequestHeaders implements AuthRequest {
  readonly #request: IncomingMessage

  constructor(request: IncomingMessage) {
    this.#request = request
  }

  get method(): string {
    return this.#request.method ?? 'GET'
  }

  /** A whole URL if the request came over TLS, which decides how a cookie is set. */
  get url(): string {
    const { url = '/', headers, socket } = this.#request
    return 'encrypted' in socket ? `https://${headers.host}${url}` : url
  }

  get headers(): this {
    return this
  }

  get(name: string): string | null {
    const value = this.#request.headers[name]
    if (value === undefined) return null
    return typeof value === 'string' ? value : value.join(', ')
  }

  get remoteAddress(): string | undefined {
    return this.#request.socket.remoteAddress
  }
}

function orThrow(outcome: Identity | Refusal): Identity {
  if (outcome.ok) return outcome
  throw refusalFrom(outcome)
}

const SIGNALS = new WeakMap<Socket, AbortSignal>()

/**
 * Returns a signal that aborts when the connection closes. All requests of a connection share it: creating one costs as
 * much as a call.
 */
export function socketSignal(socket: Socket): AbortSignal {
  const known = SIGNALS.get(socket)
  if (known) return known
  const gone = new AbortController()
  const abort = () => gone.abort(callerGone('The client closed the connection.'))
  if (socket.destroyed) abort()
  else socket.once('close', abort)
  // A client may pipeline any number of requests.
  setMaxListeners(0, gone.signal)
  SIGNALS.set(socket, gone.signal)
  return gone.signal
}

/**
 * Bytes that are still read of an unwanted body, so that the client gets the response; then the connection is closed.
 */
const MAX_DISCARDED_BYTES = 16 * 1024 * 1024

/** Limits of a JSON body. */
export interface BodyLimits {
  readonly maxBytes: number
  /** Keys and elements, counted before the text is parsed. */
  readonly maxEntries: number
}

/**
 * Reads a JSON body, `{}` if it is empty. The size is counted while it arrives, whatever content-length says. Large ones
 * are parsed in turns of their principals.
 */
export async function readJson(
  request: IncomingMessage,
  { maxBytes, maxEntries }: BodyLimits,
  principal: string | undefined,
): Promise<unknown> {
  checkType(request, 'application/json')
  const text = toText(await readRequestBytes(request, maxBytes))
  if (text === '') return {}
  checkJsonEntries(text, maxEntries)
  const waiting = turnFor(text.length, principal)
  if (waiting) await waiting
  try {
    return JSON.parse(text)
  } catch {
    throw new HttpRefusal(400, 'INPUT_SCHEMA_INVALID', 'The body is not valid JSON.', { hint: 'Send one JSON value.' })
  }
}

/** Reads the fields of an HTML form. */
export async function readForm(request: IncomingMessage, maxBytes: number): Promise<URLSearchParams> {
  checkType(request, 'application/x-www-form-urlencoded')
  return new URLSearchParams(toText(await readRequestBytes(request, maxBytes)))
}

/** Reads and discards the rest of a body, up to a limit. */
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

/** A request whose body was read; the adapter of Hono takes it from there, too. */
interface ReadRequest extends IncomingMessage {
  rawBody?: Buffer
}

/** Reads a body so that it can be read again. */
export async function keepBytes(request: ReadRequest, maxBytes: number): Promise<Buffer> {
  request.rawBody ??= await readRequestBytes(request, maxBytes)
  return request.rawBody
}

/** Reads a body, or the body that was kept. Rejects with a refusal if it is too large. */
export function readRequestBytes(request: ReadRequest, maxBytes: number): Promise<Buffer> {
  if (request.rawBody) return Promise.resolve(request.rawBody)
  const declared = request.headers['content-length']
  if (declared !== undefined && Number(declared) > maxBytes) return Promise.reject(tooLarge(maxBytes))
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    // The listeners stay, because removing them costs more.
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

/** `close` follows and reports it. */
function ignore(): void {}

function tooLarge(maxBytes: number): HttpRefusal {
  return new HttpRefusal(413, 'FILE_TOO_LARGE', `The body has more than ${maxBytes} bytes.`, {
    hint: 'Send less, or put large content in a file that the tool reads.',
  })
}
