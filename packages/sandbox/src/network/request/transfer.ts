import type { Dispatcher } from 'undici'
import type { HostAddresses, HostResolver } from '../judge-destination.ts'
import type { CallStop, RequestDeadline } from './deadline.ts'
import { fillSecrets, type SecretStore } from './fill-secrets.ts'
import { type Hop, isSending } from './http-request.ts'
import { ConnectError, type PinnedConnection, type PinnedConnections } from './pinned-connections.ts'
import type { ResponseCache } from './response-cache.ts'

/** What one call may do on the network, and the services of the pipeline that it uses meanwhile. */
export interface NetworkCall extends CallStop {
  /** The most bytes of one response, from the deciding rule. Default: the guard's own limit. */
  readonly maxBytes?: number
  /** Throws if policy did not permit this URL; called for every hop, with `send` for those that may carry data out. */
  readonly permits?: (url: string, capability: 'network' | 'send') => void
  /** Awaited before the first byte of a request that may carry data out: it puts the intent on record. */
  readonly beforeSend?: () => Promise<void> | undefined
  /** Called when a response has arrived, from any hop or the cache: the call now has untrusted content. */
  readonly onAnswer?: (url: URL) => void
  /**
   * Called when a POST that may be retried has ended, after its last attempt: whether it failed for a temporary reason,
   * so that it may be sent once more.
   */
  readonly onPost?: (hasFailedTemporarily: boolean) => void
  /** Called before a retry. */
  readonly onRetry?: () => void
  /** The earlier responses of this run. */
  readonly cache?: ResponseCache
  /** With this and `postRetries`, a POST is retried too, and carries the key. */
  readonly idempotencyKey?: string
  /** How often a request that sends data is retried. Default: never. */
  readonly postRetries?: number
}

/** What all requests of a guard share. */
export interface Wire {
  readonly hosts: HostResolver
  readonly connections: PinnedConnections
  readonly secrets: SecretStore
  /** Throws if the owner does not allow the host of a URL. */
  admit(url: URL): void
}

/** Checks one request and sends it; `extra` are headers for this hop alone. The body of the response is not read. */
export async function sendHop(
  wire: Wire,
  hop: Hop,
  call: NetworkCall,
  deadline: RequestDeadline,
  extra?: ReadonlyMap<string, string>,
): Promise<Transfer> {
  permitUrl(wire, hop.url, call)
  if (isSending(hop.method)) call.permits?.(hop.url.href, 'send')
  const { hostname } = hop.url
  const place = wire.hosts.literal(hostname) ?? (await deadline.wait(wire.hosts.ask(hostname)))
  const headers = fillSecrets(hop.headers, hop.url, wire.secrets, place.isOpened)
  const loading = wire.connections.load()
  if (loading) await deadline.wait(loading)
  if (isSending(hop.method)) {
    const recording = call.beforeSend?.()
    if (recording) await deadline.wait(recording)
  }
  deadline.check()
  const transfer = await sendToFirst(wire, hop, place, extra ? new Map([...headers, ...extra]) : headers, deadline)
  call.onAnswer?.(hop.url)
  return transfer
}

/** Throws if this call may not reach a URL. */
export function permitUrl(wire: Wire, url: URL, call: NetworkCall): void {
  wire.admit(url)
  call.permits?.(url.href, 'network')
}

/** Sends to the first checked address that accepts the connection. */
async function sendToFirst(
  { connections }: Wire,
  { url, method, body }: Hop,
  { addresses }: HostAddresses,
  headers: Hop['headers'],
  deadline: RequestDeadline,
): Promise<Transfer> {
  const options = { path: url.pathname + url.search, method, headers, body }
  let failure: unknown
  for (const address of addresses) {
    const transfer = new Transfer(connections.take(address, url.origin))
    deadline.during((reason) => transfer.abort(reason))
    try {
      return await transfer.send(options)
    } catch (error) {
      if (!(error instanceof ConnectError)) throw error
      failure = error
    }
  }
  throw failure
}

const MAX_WAITING_BYTES = 262_144

type Controller = Dispatcher.DispatchController
type RawHeaders = Readonly<Record<string, string | string[] | undefined>>

/**
 * One request and its response on one connection. undici calls the `on…` methods; the others are for the caller. The
 * connection is returned for reuse when the response is complete, and closed in every other case.
 */
export class Transfer implements Dispatcher.DispatchHandler, AsyncIterable<Buffer>, AsyncIterator<Buffer, undefined> {
  status = 0
  headers: Readonly<Record<string, string>> = {}
  readonly #connection: PinnedConnection
  readonly #chunks: Buffer[] = []
  #waitingBytes = 0
  #controller: Controller | undefined
  #isComplete = false
  #isCollected = false
  #error: unknown
  /** Runs whenever something has arrived: headers, bytes, the end, an error. */
  #wake: (() => void) | undefined

  constructor(connection: PinnedConnection) {
    this.#connection = connection
  }

  /** Sends the request; resolves when the headers of the response have arrived. */
  send(options: Dispatcher.DispatchOptions): Promise<this> {
    return new Promise((resolve, reject) => {
      this.#wake = () => {
        if (this.#error !== undefined) reject(this.#error)
        else if (this.status > 0) resolve(this)
      }
      if (this.#error === undefined) this.#connection.dispatch(options, this)
      else reject(this.#error)
    })
  }

  /** The complete body, or what has arrived of it once that exceeds the limit. */
  collect(limit: number): Promise<Buffer[]> {
    this.#isCollected = true
    return new Promise((resolve, reject) => {
      this.#wake = () => {
        if (this.#error !== undefined) reject(this.#error)
        // Written so that a limit that is not a number stops everything.
        else if (this.#isComplete || !(this.#waitingBytes <= limit)) resolve(this.#chunks)
      }
      this.#controller?.resume()
      this.#wake()
    })
  }

  /** Streams the body; the server waits while it is not read. */
  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<Buffer, undefined>> {
    while (this.#error === undefined && !this.#isComplete && this.#chunks.length === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
        this.#controller?.resume()
      })
    }
    if (this.#error !== undefined) throw this.#error
    const chunk = this.#chunks.shift()
    if (!chunk) return { done: true, value: undefined }
    this.#waitingBytes -= chunk.length
    return { done: false, value: chunk }
  }

  async return(): Promise<IteratorResult<Buffer, undefined>> {
    this.discard()
    return { done: true, value: undefined }
  }

  /** Ends it; pending reads fail with the reason. A response that is complete but unread is lost too. */
  abort(reason: unknown): void {
    if (this.#error !== undefined) return
    this.#error = reason
    if (!this.#isComplete) void this.#connection.destroy()
    this.#wake?.()
  }

  /** Drops what was not read, and closes the connection unless the response is complete. */
  discard(): void {
    this.#wake = undefined
    this.#chunks.length = 0
    if (!this.#isComplete) this.abort(new Error('The body was given up.'))
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller
  }

  onResponseStart(_: Controller, status: number, headers: RawHeaders): void {
    // 1xx is not the response yet.
    if (status < 200) return
    this.status = status
    this.headers = joinRepeated(headers)
    this.#wake?.()
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    if (this.#error !== undefined) return
    this.#chunks.push(chunk)
    this.#waitingBytes += chunk.length
    if (!this.#isCollected && this.#waitingBytes > MAX_WAITING_BYTES) controller.pause()
    this.#wake?.()
  }

  onResponseEnd(): void {
    if (this.#error !== undefined) return
    this.#isComplete = true
    // It refers to the request and its raw headers, which then survived every minor collection: 3.5 KB per request. Without
    // that, 64 concurrent fetches take 5 % less processor time.
    this.#controller = undefined
    this.#connection.release()
    this.#wake?.()
  }

  onResponseError(_: Controller, error: Error): void {
    this.abort(error)
  }
}

/** Joins the values of a repeated header, which undici passes as a list. */
function joinRepeated(headers: RawHeaders): Readonly<Record<string, string>> {
  for (const name in headers) {
    const value = headers[name]
    // An own property of that name exists, so that even `__proto__` is only a name here.
    if (Array.isArray(value)) Object.defineProperty(headers, name, { value: value.join(', '), enumerable: true })
  }
  // Frozen: this tool and, from the cache, later ones receive the same object.
  return Object.freeze(headers as Record<string, string>)
}
