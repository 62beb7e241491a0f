import { type Clock, systemClock, ToolError, type WebFetch, type WebFetchOptions } from '@tool-hub/core'
import {
  type HostAddresses,
  HostResolver,
  judgeUrl,
  parseRanges,
  type Ranges,
  type Resolve,
  spelledOut,
} from './judge-destination.ts'
import type { NetworkGuardOptions } from './network-guard.ts'
import { DeadlineWatch, onAbort, RequestDeadline } from './request/deadline.ts'
import { type ExchangeResult, exchange, nextHop, toNetworkError } from './request/exchange.ts'
import { checkHttpRequest, type Hop } from './request/http-request.ts'
import { PinnedConnections } from './request/pinned-connections.ts'
import { sendHop, type Transfer } from './request/transfer.ts'

// Statuses for which a Response takes no body, not even an empty one.
const BODILESS = new Set([204, 205, 304])

const MAX_STATUS = 599

/** How long the resolved name of a service is reused; its addresses were checked. */
const REMEMBERED_MS = 30_000

/** The owner's network settings that apply to a service. */
export type WebFetchGuard = Pick<
  NetworkGuardOptions,
  'privateRanges' | 'blockedRanges' | 'userAgent' | 'resolve' | 'clock' | 'dial' | 'ca'
>

/** How long a service may take. */
export interface WebFetchTimes {
  /** Time until the headers of the response have arrived, including redirects. Default: 30 s. The body may take hours. */
  readonly headersTimeoutMs?: number
}

/** A `fetch` that holds connections until it is closed. */
export type OpenWebFetch = WebFetch & { close(): Promise<void> }

const HEADERS_TIMEOUT_MS = 30_000
const NO_SECRETS = new Map()
const NEVER = new AbortController().signal

/** The standard `fetch` for one service: every hop is checked, and only a checked address is dialled. */
export function createWebFetch(options: WebFetchOptions & WebFetchTimes, guard: WebFetchGuard): OpenWebFetch {
  const { headersTimeoutMs = HEADERS_TIMEOUT_MS } = options
  const places = new WebPlaces(options, guard)
  const connections = new PinnedConnections(guard)
  const watch = new DeadlineWatch(guard.clock ?? systemClock)
  const wire = { connections, secrets: NO_SECRETS, admit: (url: URL) => void places.of(url) }

  const fetch: WebFetch = async (url, init = {}) => {
    const request = readWebRequest(url, init, guard.userAgent)
    const { first, signal } = request
    const call = {
      signal: () => signal ?? NEVER,
      onStop: (listener: (reason: unknown) => void) => watchSignal(signal, listener),
    }
    const deadline = new RequestDeadline(watch, call, headersTimeoutMs)
    const send = (hop: Hop) => {
      refuseCarriedBody(first, hop)
      return sendHop({ ...wire, hosts: places.of(hop.url) }, hop, call, deadline)
    }
    try {
      deadline.check()
      return toWebResponse(await answerTo(request, send, deadline), signal)
    } catch (error) {
      // The service may have moved: its name is resolved again next time.
      places.forget()
      throw error
    } finally {
      deadline.stop()
    }
  }
  return Object.assign(fetch, {
    async close() {
      watch.close()
      await connections.close()
    },
  })
}

async function answerTo(
  { first, redirect }: WebRequest,
  send: (hop: Hop) => Promise<Transfer>,
  deadline: RequestDeadline,
): Promise<ExchangeResult> {
  if (redirect === 'follow') return exchange(first, send, deadline)
  try {
    const transfer = await send(first)
    if (redirect === 'error') refuseRedirect(first, transfer)
    return { hop: first, transfer, urls: [first.url] }
  } catch (error) {
    deadline.check()
    throw toNetworkError(error, first.url)
  }
}

/** Where a service may be reached: at the configured origins and, if enabled, at public hosts. */
class WebPlaces {
  readonly #origins: ReadonlyMap<string, OwnersHost>
  readonly #others: HostResolver | undefined

  constructor(
    { origins, publicHosts = false }: WebFetchOptions,
    guard: Pick<NetworkGuardOptions, 'privateRanges' | 'blockedRanges' | 'resolve' | 'clock'>,
  ) {
    const { privateRanges, blockedRanges, resolve, clock = systemClock } = guard
    this.#origins = new Map(
      origins.map((text) => {
        const { origin, hostname } = judgeUrl(text)
        const ranges = parseRanges([...privateRanges, ...spelledOut(hostname)], blockedRanges)
        return [origin, new OwnersHost(resolve, ranges, clock)]
      }),
    )
    if (publicHosts) this.#others = new HostResolver(resolve, parseRanges([], blockedRanges))
  }

  /** The resolver that checks the host of a URL; throws if the URL may not be reached at all. */
  of({ origin, protocol }: URL): HostResolver {
    const found = this.#origins.get(origin) ?? (protocol === 'https:' ? this.#others : undefined)
    if (found) return found
    const named = [...this.#origins.keys()].join(', ') || 'nothing'
    const others = this.#others ? ' and public hosts over https' : ''
    throw new ToolError('HTTP_DISALLOWED_HOST', `${origin} is not a place that this service may lead to.`, {
      hint: `Only ${named}${others} may be reached; have the owner correct the URL of the service.`,
    })
  }

  /** Resolves every name again. */
  forget(): void {
    for (const host of this.#origins.values()) host.forget()
  }
}

/** The one host of an origin, remembered for a moment: a call must not wait for the resolver each time. */
class OwnersHost extends HostResolver {
  readonly #clock: Clock
  #remembered: { readonly place: HostAddresses; readonly until: number } | undefined

  constructor(resolve: Resolve | undefined, ranges: Ranges, clock: Clock) {
    super(resolve, ranges)
    this.#clock = clock
  }

  override async ask(host: string): Promise<HostAddresses> {
    if (this.#remembered && this.#clock.now() < this.#remembered.until) return this.#remembered.place
    const place = await super.ask(host)
    this.#remembered = { place, until: this.#clock.now() + REMEMBERED_MS }
    return place
  }

  forget(): void {
    this.#remembered = undefined
  }
}

/** A standard Response with a streamed body; the signal ends it at any time. */
function toWebResponse(answer: ExchangeResult, signal: AbortSignal | undefined): Response {
  const { hop, transfer, urls } = answer
  try {
    const hasBody =
      hop.method !== 'HEAD' && !BODILESS.has(transfer.status) && transfer.headers['content-length'] !== '0'
    if (hasBody) refuseEncoded(answer)
    if (transfer.status > MAX_STATUS) throw unreadable(`${hop.url.host} answers with the status ${transfer.status}.`)
    const response = new Response(hasBody ? streamOf(answer, signal) : null, {
      status: transfer.status,
      headers: transfer.headers,
    })
    Object.defineProperties(response, {
      url: { value: hop.url.href },
      redirected: { value: urls.length > 1 },
    })
    return response
  } catch (error) {
    transfer.discard()
    throw error
  }
}

/** A client of a service gets the reason that it gave itself. */
function watchSignal(signal: AbortSignal | undefined, listener: (reason: unknown) => void): () => void {
  return signal ? onAbort(signal, listener, ({ reason }) => reason) : () => {}
}

function streamOf({ hop, transfer }: ExchangeResult, signal: AbortSignal | undefined): ReadableStream<Uint8Array> {
  const stopWatching = watchSignal(signal, (reason) => transfer.abort(reason))
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { done, value } = await transfer.next()
          // A copy: undici passes a part of a larger buffer, which the receiver could detach.
          if (!done) return controller.enqueue(new Uint8Array(value))
          stopWatching()
          controller.close()
        } catch (error) {
          stopWatching()
          controller.error(signal?.aborted ? signal.reason : toNetworkError(error, hop.url))
        }
      },
      cancel() {
        stopWatching()
        transfer.discard()
      },
    },
    // Nothing is read ahead: the server waits instead.
    { highWaterMark: 0 },
  )
}

/** Refuses a response that is compressed, which was not accepted. */
function refuseEncoded({ hop, transfer }: ExchangeResult): void {
  const encoding = transfer.headers['content-encoding'] ?? 'identity'
  if (encoding.toLowerCase() === 'identity') return
  throw unreadable(`${hop.url.host} encodes its answer as ${JSON.stringify(encoding.slice(0, 100))}, unasked.`)
}

function unreadable(message: string): ToolError {
  return new ToolError('UPSTREAM_ERROR', message, { retryable: false })
}

const REDIRECTS = ['follow', 'manual', 'error'] as const

/** A checked request of `fetch`. */
interface WebRequest {
  readonly first: Hop
  readonly redirect: (typeof REDIRECTS)[number]
  readonly signal: AbortSignal | undefined
}

const FORM = 'application/x-www-form-urlencoded;charset=UTF-8'
const TEXT = 'text/plain;charset=UTF-8'

/** Checks the request of a client of a service. */
export function readWebRequest(url: string | URL, init: RequestInit, userAgent: string): WebRequest {
  const { body, type } = readBody(init.body)
  const headers = readHeaders(init.headers)
  if (type !== undefined && !headers.has('content-type')) headers.set('content-type', type)
  // The body is passed on unchanged: without compression it cannot grow.
  const defaults = new Map([
    ['user-agent', userAgent],
    ['accept', '*/*'],
  ])
  const parts = checkHttpRequest(
    {
      ...(init.method !== undefined && { method: init.method as Hop['method'] }),
      headers: { ...Object.fromEntries(headers), 'accept-encoding': 'identity' },
      ...(body !== undefined && { body: '' }),
    },
    defaults,
  )
  const redirect = REDIRECTS.find((known) => known === (init.redirect ?? 'follow'))
  if (!redirect) throw invalid(`redirect is one of ${REDIRECTS.join(', ')}.`)
  return {
    // undici sends bytes like text, and nothing in between reads the body.
    first: { url: judgeUrl(String(url)), ...parts, body: body as string | undefined },
    redirect,
    signal: init.signal ?? undefined,
  }
}

/** Refuses to send a body to another origin after a redirect: it may contain what only the first should see. */
export function refuseCarriedBody(first: Hop, hop: Hop): void {
  if (hop.body === undefined || hop.url.origin === first.url.origin) return
  throw new ToolError(
    'HTTP_DISALLOWED_HOST',
    `${first.url.host} redirects what is sent to it to another place (${hop.url.origin}).`,
    { hint: 'If that is the right place, use its URL.' },
  )
}

/** Refuses a redirect. */
export function refuseRedirect(hop: Hop, transfer: Transfer): void {
  const { status, headers } = transfer
  try {
    if (!nextHop(hop, status, headers.location)) return
  } catch (error) {
    transfer.discard()
    throw error
  }
  transfer.discard()
  throw new ToolError('UPSTREAM_ERROR', `${hop.url.host} redirects (${status}), which was not wanted.`, {
    retryable: false,
  })
}

function readBody(body: RequestInit['body']): { body?: string | Uint8Array; type?: string } {
  if (body === undefined || body === null) return {}
  if (typeof body === 'string') return { body, type: TEXT }
  if (body instanceof URLSearchParams) return { body: body.toString(), type: FORM }
  if (body instanceof Uint8Array) return { body }
  throw invalid('A body is a string, a Uint8Array or URLSearchParams.')
}

function readHeaders(given: RequestInit['headers']): Headers {
  try {
    return new Headers(given)
  } catch (cause) {
    throw invalid('A header has a name or a value that no header can carry.', cause)
  }
}

function invalid(message: string, cause?: unknown): ToolError {
  return new ToolError('INPUT_SCHEMA_INVALID', message, { cause })
}
