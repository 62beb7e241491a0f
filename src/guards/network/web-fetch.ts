import { systemClock } from '../../clock.ts'
import type { WebFetch, WebFetchOptions } from '../../source.ts'
import { Deadline } from './deadline.ts'
import { DeadlineWatch } from './deadline-watch.ts'
import { type Answer, exchange } from './exchange.ts'
import { toNetworkError } from './network-error.ts'
import type { NetworkGuardOptions } from './network-guard.ts'
import type { Hop } from './next-hop.ts'
import { PinnedConnections } from './pinned-connections.ts'
import { sendHop } from './send-hop.ts'
import type { Transfer } from './transfer.ts'
import { WebPlaces } from './web-places.ts'
import { readWebRequest, refuseCarriedBody, refuseRedirect, type WebRequest } from './web-request.ts'
import { toWebResponse, watchSignal } from './web-response.ts'

/** What the owner says about the network, as far as a service needs it. */
export type WebFetchGuard = Pick<
  NetworkGuardOptions,
  'privateRanges' | 'blockedRanges' | 'userAgent' | 'resolve' | 'clock' | 'dial' | 'ca'
>

/** How long a service may take. */
export interface WebFetchTimes {
  /** Time until the headers of an answer are there, redirects included; 30 s unless said. Its body may last for hours. */
  readonly headersTimeoutMs?: number
}

/** A `fetch` that holds connections until it is closed. */
export type OpenWebFetch = WebFetch & { close(): Promise<void> }

const HEADERS_TIMEOUT_MS = 30_000
const NO_SECRETS = new Map()
const NEVER = new AbortController().signal

/** The standard `fetch` for one service: every hop is judged, and the address that was judged is the one that is dialled. */
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
    const deadline = new Deadline(watch, call, headersTimeoutMs)
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
  deadline: Deadline,
): Promise<Answer> {
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
