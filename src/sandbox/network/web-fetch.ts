import { setMaxListeners } from 'node:events'
import { type Clock, systemClock, ToolError, type WebFetch, type WebFetchOptions } from '../../core/index.ts'
import { DeadlineWatch, RequestDeadline } from './deadline.ts'

import { type ExchangeResult, exchange, type Hop, toNetworkError } from './exchange.ts'
import { type HostAddresses, HostResolver, type Resolve } from './host-resolver.ts'
import { parseRanges, type Ranges, spelledOut } from './judge-address.ts'
import { judgeUrl } from './judge-url.ts'

import type { NetworkGuardOptions } from './network-guard.ts'

import { PinnedConnections } from './pinned-connections.ts'
import { sendHop } from './send-hop.ts'

import type { Transfer } from './transfer.ts'
import { readWebRequest, refuseCarriedBody, refuseRedirect, type WebRequest } from './web-request.ts'

// Statuses for which a Response takes no body, not even an empty one.
const BODILESS = new Set([204, 205, 304])

const MAX_STATUS = 599

/** How long the resolved name of a service is reused; its addresses were checked. */
const REMEMBERED_MS = 30_000

/** What the owner says about the network, as far as a service needs it. */
export type WebFetchGuard = Pick<
  NetworkGuardOptions,
  'privateRanges' | 'blockedRanges' | 'userAgent' | 'resolve' | 'clock' | 'dial' | 'ca'
>

/** How long a service may take. */
export interface WebFetchTimes {
  /** Time until the headers of an answer are there, redirects included. Default: 30 s. Its body may last for hours. */
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
      // What failed may have moved.
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

  /** Asks for every name again. */
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

/** An answer as a standard Response, its body as it comes; the signal ends it at any time. */
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

/** Calls the listener with the reason when a signal aborts; returns how to unsubscribe. */
function watchSignal(signal: AbortSignal | undefined, listener: (reason: unknown) => void): () => void {
  if (!signal) return () => {}
  const forward = () => listener(signal.reason)
  if (signal.aborted) forward()
  // A client has one signal for many requests, and every listener goes when its request ends: no leak to warn of.
  setMaxListeners(0, signal)
  signal.addEventListener('abort', forward)
  return () => signal.removeEventListener('abort', forward)
}

function streamOf({ hop, transfer }: ExchangeResult, signal: AbortSignal | undefined): ReadableStream<Uint8Array> {
  const stopWatching = watchSignal(signal, (reason) => transfer.abort(reason))
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { done, value } = await transfer.next()
          // A copy: what undici gives is a part of a larger buffer, which its receiver could detach.
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

/** A server that compresses though it was asked not to. */
function refuseEncoded({ hop, transfer }: ExchangeResult): void {
  const encoding = transfer.headers['content-encoding'] ?? 'identity'
  if (encoding.toLowerCase() === 'identity') return
  throw unreadable(`${hop.url.host} encodes its answer as ${JSON.stringify(encoding.slice(0, 100))}, unasked.`)
}

function unreadable(message: string): ToolError {
  return new ToolError('UPSTREAM_ERROR', message, { retryable: false })
}
