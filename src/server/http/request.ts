import { setMaxListeners } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { type Awaitable, callerGone } from '../../core/index.ts'
import type { AuthRequest, Refusal } from '../auth/auth-request.ts'
import type { Authenticator, Identity } from '../auth/authenticator.ts'
import { HttpRefusal } from './answers.ts'

/** Headers of which two could mean one thing here and another to a proxy in front. */
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
/** As many as the server reads. */
export const MAX_HEADERS = 100
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'])

/** What is wrong with the head of a request, whoever sent it and whatever it is for. */
export function checkHead({ method = '', url = '', headers, rawHeaders }: IncomingMessage): HttpRefusal | undefined {
  if (!METHODS.has(method)) return new HttpRefusal(405, 'INPUT_SCHEMA_INVALID', 'This method is not served.')
  // A whole URL is for proxies; a backslash is a slash to some and not to others.
  if (!url.startsWith('/') || url.includes('\\')) {
    return new HttpRefusal(400, 'INPUT_SCHEMA_INVALID', 'The target of a request is a path that begins with /.')
  }
  // Node forgets those that come after: a second Authorization among them would not be seen.
  if (rawHeaders.length >= MAX_HEADERS * 2)
    return new HttpRefusal(431, 'INPUT_SCHEMA_INVALID', `A request has fewer than ${MAX_HEADERS} headers.`)
  // As many names as headers: none came twice, and nearly always so.
  if (Object.keys(headers).length * 2 === rawHeaders.length) return undefined
  const doubled = findDoubled(rawHeaders)
  if (doubled === undefined) return undefined
  return new HttpRefusal(400, 'INPUT_SCHEMA_INVALID', `The header ${doubled} came more than once.`)
}

/** The same for those whom nobody asks who they are: also whom it was sent to, and which page sent it. */
export function checkOpen(authenticator: Authenticator, request: IncomingMessage): void {
  const refusal = authenticator.inspect(new RequestHeaders(request))
  if (refusal) throw HttpRefusal.from(refusal)
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

/** Who sent a request; throws what to answer when nobody may. */
export function authenticate(authenticator: Authenticator, request: IncomingMessage): Awaitable<Identity> {
  const admission = authenticator.authenticate(new RequestHeaders(request))
  return admission instanceof Promise ? admission.then(welcome) : welcome(admission)
}

/** A request as the authenticator looks at it. Headers that decide who may come in were checked to come once. */
export class RequestHeaders implements AuthRequest {
  readonly #request: IncomingMessage

  constructor(request: IncomingMessage) {
    this.#request = request
  }

  get method(): string {
    return this.#request.method ?? 'GET'
  }

  /** Whole where it came over TLS, which decides how a cookie is set. */
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

function welcome(admission: Identity | Refusal): Identity {
  if (admission.ok) return admission
  throw HttpRefusal.from(admission)
}

const SIGNALS = new WeakMap<Socket, AbortSignal>()

/** Returns a signal that aborts when the connection closes. All requests of a connection share it: a new one costs as much as a call. */
export function socketSignal(socket: Socket): AbortSignal {
  const known = SIGNALS.get(socket)
  if (known) return known
  const gone = new AbortController()
  const abort = () => gone.abort(callerGone('The client closed the connection.'))
  if (socket.destroyed) abort()
  else socket.once('close', abort)
  // A client may pipeline as many requests as it likes.
  setMaxListeners(0, gone.signal)
  SIGNALS.set(socket, gone.signal)
  return gone.signal
}
