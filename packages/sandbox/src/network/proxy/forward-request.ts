import { request as createRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { pipeline } from 'node:stream'
import { ToolError } from '@tool-hub/core'
import { toNetworkError } from '../request/exchange.ts'
import { connectToHost, type ProxyConnection, type ProxyGuard, type ProxyLimits, toRefusal } from './connect-to-host.ts'

const NOT_ASCII = /[^\x21-\x7e]/

// Hop-by-hop headers (RFC 9110, 7.6.1) and those about the length of a body, which are set again for the next message.
const HOP_BY_HOP = /^(connection|keep-alive|te|trailer|transfer-encoding|upgrade|http2-settings|expect|content-length)$/

const PROXY_ONLY = /^proxy-/

/** A plain request and where its response goes. */
export interface ForwardOrder {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly connection: ProxyConnection
  readonly limits: ProxyLimits
  readonly count: (bytes: number) => void
}

/** The most bytes of the headers of a request or a response. */
export const MAX_HEADER_BYTES = 16_384

const LINGER_MS = 2000

/**
 * Forwards one plain request to a checked address, on a connection of its own: nothing that a client or a server adds
 * to its message can become part of another one. The message is written anew from what the parser has read.
 */
export async function forwardRequest(guard: ProxyGuard, order: ForwardOrder): Promise<void> {
  const { request, response, connection, limits, count } = order
  let server: Socket | undefined
  response.on('close', () => connection.stop())
  try {
    connection.allow(limits.openMs, 'The connection')
    const url = judgeRequest(request, guard.judge)
    connection.permit(url, guard.admit)
    const reached = await connectToHost(guard, url, connection.signal)
    server = reached.socket
    connection.hold(server)
    connection.opened()
    connection.connected(reached.address, reached.port)
    const incoming = await send(order, server, url)
    response.sendDate = false
    response.writeHead(incoming.statusCode!, [...endToEndHeaders(incoming), ...framing(incoming, 'response')])
    incoming.on('data', ({ length }: Buffer) => count(length))
    pipeline(incoming, response, () => server?.destroy())
  } catch (error) {
    connection.opened()
    connection.failed(error)
    server?.destroy()
    refuse(order, error)
  }
}

/** Sends the request; resolves with the head of the response. */
function send({ request, response, limits, count, connection }: ForwardOrder, server: Socket, url: URL) {
  return new Promise<IncomingMessage>((resolve, reject) => {
    const outgoing = createRequest({
      createConnection: () => server,
      method: request.method,
      path: url.pathname + url.search,
      headers: ['Host', url.host, ...endToEndHeaders(request), ...framing(request, 'request'), 'Connection', 'close'],
      maxHeaderSize: MAX_HEADER_BYTES,
      insecureHTTPParser: false,
    })
    const fail = (error: Error) =>
      reject(connection.signal.aborted ? connection.signal.reason : toNetworkError(error, url))
    server.setTimeout(limits.idleMs, () => connection.stop(tooQuiet(url, limits.idleMs)))
    // The listener stays: the rest of a body may fail after the response has arrived.
    outgoing.on('error', fail)
    outgoing.on('close', () => fail(Object.assign(new Error('no answer'), { code: 'ECONNRESET' })))
    outgoing.on('response', resolve)
    if (request.headers.expect !== undefined) response.writeContinue()
    request.on('data', ({ length }: Buffer) => count(length))
    request.pipe(outgoing)
  })
}

function refuse({ request, response }: ForwardOrder, error: unknown): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  const { status, reason, text } = toRefusal(error, request.headers.host ?? 'The proxy')
  const body = `${text}\n`
  response.writeHead(status, reason, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
  })
  response.write(body)
  // The response is complete. Closing while the rest of a request body arrives could discard it for the client.
  const timer = setTimeout(() => response.end(), isUploading(request) ? LINGER_MS : 0)
  response.on('close', () => clearTimeout(timer))
  request.unpipe()
  request.on('end', () => response.end()).resume()
}

/** Whether more of a request will follow; a client that waits for "continue" sends nothing after a refusal. */
function isUploading(request: IncomingMessage): boolean {
  return !request.complete && request.headers.expect === undefined
}

function tooQuiet({ host }: URL, ms: number): ToolError {
  return new ToolError('HTTP_TIMEOUT', `Nothing went to or came from ${host} for ${ms} ms.`)
}

/** The headers of a message that are meant for the other end, as a flat list; its framing and Host are not in it. */
export function endToEndHeaders({ rawHeaders, headers }: Pick<IncomingMessage, 'rawHeaders' | 'headers'>): string[] {
  const named = new Set((headers.connection ?? '').toLowerCase().split(/[\s,]+/))
  const kept: string[] = []
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase()
    if (name === 'host' || HOP_BY_HOP.test(name) || PROXY_ONLY.test(name) || named.has(name)) continue
    kept.push(rawHeaders[at]!, rawHeaders[at + 1]!)
  }
  return kept
}

/** The headers for the length of a body; a request without such headers has no body. */
export function framing(message: IncomingMessage, direction: 'request' | 'response'): string[] {
  const { 'transfer-encoding': coding, 'content-length': length } = message.headers
  if (coding !== undefined) return direction === 'request' ? ['Transfer-Encoding', 'chunked'] : []
  if (length !== undefined) return ['Content-Length', length]
  // Without it Node would send a body of unknown length.
  return direction === 'request' && /^(POST|PUT|PATCH)$/.test(message.method!) ? ['Content-Length', '0'] : []
}

/** The URL of a plain request that every server would interpret alike. */
export function judgeRequest(request: IncomingMessage, judge: (text: string) => URL): URL {
  const { url: target = '', method, headers, httpVersion } = request
  if (/^https:/i.test(target)) throw invalid('https goes through the proxy by CONNECT.', 'Use a tunnel: CONNECT.')
  if (!target.includes('://') || NOT_ASCII.test(target)) {
    throw invalid('This is a proxy, and the request does not name a whole URL.', 'Ask for GET http://host/path.')
  }
  const url = judge(target)
  if (method === 'TRACE') throw invalid('TRACE returns what others should not see.', 'Use another method.')
  const hosts = request.rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host').length
  if (hosts > 1 || (hosts === 0 && httpVersion !== '1.0')) throw invalid(`The request has ${hosts} Host headers.`)
  if (hosts === 1 && hostOf(headers.host!, judge) !== url.host) {
    throw invalid(`The Host header is another than the host of the URL, ${url.host}.`, 'Make both the same.')
  }
  const coding = headers['transfer-encoding']
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || httpVersion === '1.0')) {
    throw invalid('The body is encoded in a way that the proxy does not know.', 'Use chunked, or a Content-Length.')
  }
  // An offer of HTTP/2 may be ignored; any other protocol would not be HTTP, and could not be checked.
  if (headers.upgrade !== undefined && headers.upgrade.toLowerCase() !== 'h2c') {
    throw invalid('The proxy changes to no other protocol.', 'Use wss:// instead of ws://.')
  }
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue') {
    throw invalid('The proxy cannot meet what Expect asks for.', 'Leave the header out.')
  }
  return url
}

function hostOf(header: string, judge: (text: string) => URL): string | undefined {
  try {
    const url = judge(`http://${header}/`)
    return url.pathname === '/' && url.search === '' ? url.host : undefined
  } catch {
    // A missing host counts as a different host.
    return undefined
  }
}

function invalid(message: string, hint = 'Send one plain HTTP/1.1 request.'): ToolError {
  return new ToolError('INPUT_SCHEMA_INVALID', message, { hint })
}
