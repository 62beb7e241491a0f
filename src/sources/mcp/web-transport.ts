import type { OAuthClientProvider, Transport, TransportSendOptions } from '@modelcontextprotocol/client'
import type { Clock } from '../../clock.ts'
import { ToolError } from '../../errors.ts'
import type { WebFetch } from '../../source.ts'
import { boundResponse } from './bound-response.ts'
import { MOST_MESSAGE_BYTES } from './limits.ts'

type Sdk = typeof import('@modelcontextprotocol/client')

/** Between the end of a stream of events and the next try, whatever the server wishes (`retry: 0`). */
const SHORTEST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 3_600_000

/** What is needed to talk to a server over HTTP. */
export interface WebRoad {
  readonly server: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly fetch: WebFetch
  readonly authProvider: OAuthClientProvider | undefined
  readonly sdk: Sdk
  readonly clock: Clock
}

/** MCP over streamable HTTP; a request whose stream ends without an answer fails at once instead of never. */
export function openStreamable(road: WebRoad): Transport & { terminateSession(): Promise<void> } {
  const transport = new road.sdk.StreamableHTTPClientTransport(road.url, {
    fetch: ownFetch(road),
    authProvider: road.authProvider,
    reconnectionScheduler: (reconnect, delayMs) =>
      road.clock.after(Math.min(Math.max(delayMs, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS), reconnect, {
        background: true,
      }),
  })
  const send = transport.send.bind(transport)
  transport.send = (message, options) => {
    if (!('method' in message) || !('id' in message)) return send(message, options)
    const onRequestStreamEnd = () => {
      const error = { code: STREAM_ENDED, message: 'its stream ended without an answer', data: { isStreamEnded: true } }
      transport.onmessage?.({ jsonrpc: '2.0', id: message.id, error })
    }
    return send(message, { onRequestStreamEnd, ...options } as TransportSendOptions)
  }
  return transport
}

/** MCP over SSE as servers of the first protocol speak it; it is over with its stream. */
export function openSse(road: WebRoad): Transport & { reason: ToolError | undefined } {
  const fetch = ownFetch(road)
  let failure: unknown
  const transport = new road.sdk.SSEClientTransport(road.url, {
    fetch: (...request) =>
      fetch(...request).catch((error: unknown) => {
        failure = error
        throw error
      }),
    authProvider: road.authProvider,
  })
  const start = transport.start.bind(transport)
  const state = Object.assign(transport as Transport, { reason: undefined as ToolError | undefined })
  state.start = async () => {
    await start().catch((error: unknown) => {
      // The SDK tells the same three times over, and not what kind it is.
      if (ToolError.is(failure)) state.reason = failure
      throw error
    })
    const { onerror } = transport
    // It would go on with a new session that knows nothing of this one.
    transport.onerror = (error) => {
      onerror?.(error)
      if (!(error instanceof road.sdk.SseError) || state.reason) return
      state.reason = new ToolError('UPSTREAM_ERROR', `The connection to ${road.server} broke.`)
      void transport.close()
    }
  }
  return state
}

/** A code that JSON-RPC leaves to who implements it. */
const STREAM_ENDED = -32000

/** Only the server itself gets the owner's headers, not a place to sign in that it names. */
function ownFetch({ url: own, headers, fetch }: WebRoad): (url: string | URL, init?: RequestInit) => Promise<Response> {
  return async (url, init) => {
    const all = new Headers(init?.headers)
    if (new URL(url).origin === own.origin) for (const [name, value] of Object.entries(headers)) all.set(name, value)
    return boundResponse(await fetch(url, { ...init, headers: all }), MOST_MESSAGE_BYTES)
  }
}
