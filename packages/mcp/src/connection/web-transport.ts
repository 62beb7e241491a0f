import type { OAuthClientProvider, Transport, TransportSendOptions } from '@modelcontextprotocol/client'
import { type Clock, ToolError, type WebFetch } from '@tool-hub/core'
import { MAX_MESSAGE_BYTES } from './transport.ts'

const LINE_FEED = 10

const CARRIAGE_RETURN = 13

type Sdk = typeof import('@modelcontextprotocol/client')

/** Delay before an event stream is reopened, whatever the server requests (`retry: 0`). */
const MIN_PAUSE_MS = 1_000
const MAX_PAUSE_MS = 3_600_000

/** What is needed to reach a server over HTTP. */
export interface WebConnection {
  readonly server: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly fetch: WebFetch
  readonly authProvider: OAuthClientProvider | undefined
  readonly sdk: Sdk
  readonly clock: Clock
}

/** MCP over streamable HTTP. A request whose stream ends without an answer fails immediately instead of never. */
export function openStreamable(connection: WebConnection): Transport & { terminateSession(): Promise<void> } {
  const transport = new connection.sdk.StreamableHTTPClientTransport(connection.url, {
    fetch: ownFetch(connection),
    authProvider: connection.authProvider,
    reconnectionScheduler: (reconnect, delayMs) =>
      connection.clock.after(Math.min(Math.max(delayMs, MIN_PAUSE_MS), MAX_PAUSE_MS), reconnect, {
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

/** MCP over SSE, the transport of the first protocol version. It ends with its stream. */
export function openSse(connection: WebConnection): Transport & { reason: ToolError | undefined } {
  const fetch = ownFetch(connection)
  let failure: unknown
  const transport = new connection.sdk.SSEClientTransport(connection.url, {
    fetch: (...request) =>
      fetch(...request).catch((error: unknown) => {
        failure = error
        throw error
      }),
    authProvider: connection.authProvider,
  })
  const start = transport.start.bind(transport)
  const state = Object.assign(transport as Transport, { reason: undefined as ToolError | undefined })
  state.start = async () => {
    await start().catch((error: unknown) => {
      // The SDK reports the error three times, without its kind.
      if (ToolError.is(failure)) state.reason = failure
      throw error
    })
    const { onerror } = transport
    // The SDK would continue with a new session that knows nothing of this one.
    transport.onerror = (error) => {
      onerror?.(error)
      if (!(error instanceof connection.sdk.SseError) || state.reason) return
      state.reason = new ToolError('UPSTREAM_ERROR', `The connection to ${connection.server} broke.`)
      void transport.close()
    }
  }
  return state
}

/** A code that JSON-RPC reserves for implementations. */
const STREAM_ENDED = -32000

/** Sends the configured headers only to the server itself, not to a sign-in page that it names. */
function ownFetch({
  url: own,
  headers,
  fetch,
}: WebConnection): (url: string | URL, init?: RequestInit) => Promise<Response> {
  return async (url, init) => {
    const all = new Headers(init?.headers)
    if (new URL(url).origin === own.origin) for (const [name, value] of Object.entries(headers)) all.set(name, value)
    return boundResponse(await fetch(url, { ...init, headers: all }), MAX_MESSAGE_BYTES)
  }
}

/** A response whose body fails once it, or one event of an event stream, becomes too long. */
export function boundResponse(response: Response, maxBytes: number): Response {
  const { body, status, statusText, headers } = response
  if (!body) return response
  const isStream = headers.get('content-type')?.toLowerCase().startsWith('text/event-stream') ?? false
  const bounded = body.pipeThrough(isStream ? boundEvents(maxBytes) : boundWhole(maxBytes))
  return new Response(bounded, { status, statusText, headers })
}

function boundWhole(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.length
      if (bytes > maxBytes) throw tooLarge(maxBytes)
      controller.enqueue(chunk)
    },
  })
}

/** An empty line ends an event; a line ends with CR, LF or both. */
function boundEvents(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0
  let before = LINE_FEED
  return new TransformStream({
    transform(chunk, controller) {
      for (const byte of chunk) {
        const isSecondHalf = byte === LINE_FEED && before === CARRIAGE_RETURN
        const isEmptyLine = !isSecondHalf && isBreak(byte) && isBreak(before)
        bytes = isEmptyLine ? 0 : bytes + 1
        if (bytes > maxBytes) throw tooLarge(maxBytes)
        if (!isSecondHalf) before = byte
      }
      controller.enqueue(chunk)
    },
  })
}

function isBreak(byte: number): boolean {
  return byte === LINE_FEED || byte === CARRIAGE_RETURN
}

function tooLarge(maxBytes: number): ToolError {
  return new ToolError(
    'HTTP_TOO_LARGE',
    `An answer has more than ${maxBytes} bytes, which is the limit of a message.`,
    {
      hint: 'Ask the server for less in one call.',
    },
  )
}
