import { request as createRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { pipeline } from 'node:stream'
import { ToolError } from '../../../errors.ts'
import { toNetworkError } from '../network-error.ts'
import { endToEndHeaders, framing } from './end-to-end-headers.ts'
import { judgeRequest } from './judge-request.ts'
import type { ProxyLimits } from './proxy-limits.ts'
import { type Road, reach } from './reach.ts'
import { toRefusal } from './refusal.ts'
import type { Visit } from './visit.ts'

/** A plain request and where its answer goes. */
export interface ForwardOrder {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly visit: Visit
  readonly limits: ProxyLimits
  readonly count: (bytes: number) => void
}

/** The most bytes of headers, of a request and of an answer. */
export const MOST_HEADER_BYTES = 16_384

const LINGER_MS = 2000

/**
 * Forwards one plain request to a judged address, on a connection of its own: nothing that a client or a server adds
 * to its message can become part of another one. The message is written anew from what the parser has read.
 */
export async function forwardRequest(road: Road, order: ForwardOrder): Promise<void> {
  const { request, response, visit, limits, count } = order
  let server: Socket | undefined
  response.on('close', () => visit.stop())
  try {
    visit.allow(limits.openMs, 'The connection')
    const url = judgeRequest(request, road.judge)
    visit.permit(url, road.admit)
    const reached = await reach(road, url, visit.signal)
    server = reached.socket
    visit.hold(server)
    visit.opened()
    visit.connected(reached.address, reached.port)
    const incoming = await send(order, server, url)
    response.sendDate = false
    response.writeHead(incoming.statusCode!, [...endToEndHeaders(incoming), ...framing(incoming, 'response')])
    incoming.on('data', ({ length }: Buffer) => count(length))
    pipeline(incoming, response, () => server?.destroy())
  } catch (error) {
    visit.opened()
    visit.failed(error)
    server?.destroy()
    refuse(order, error)
  }
}

/** Sends the request; resolves with the head of the answer. */
function send({ request, response, limits, count, visit }: ForwardOrder, server: Socket, url: URL) {
  return new Promise<IncomingMessage>((resolve, reject) => {
    const outgoing = createRequest({
      createConnection: () => server,
      method: request.method,
      path: url.pathname + url.search,
      headers: ['Host', url.host, ...endToEndHeaders(request), ...framing(request, 'request'), 'Connection', 'close'],
      maxHeaderSize: MOST_HEADER_BYTES,
      insecureHTTPParser: false,
    })
    const fail = (error: Error) => reject(visit.signal.aborted ? visit.signal.reason : toNetworkError(error, url))
    server.setTimeout(limits.idleMs, () => visit.stop(tooQuiet(url, limits.idleMs)))
    // The listener stays: the rest of a body may fail after the answer has come.
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
  // The answer is whole. Closing on the rest of a body that is still coming could take it away from the client.
  const timer = setTimeout(() => response.end(), isUploading(request) ? LINGER_MS : 0)
  response.on('close', () => clearTimeout(timer))
  request.unpipe()
  request.on('end', () => response.end()).resume()
}

/** True when more of a request is to come; who waits for "continue" sends nothing after a no. */
function isUploading(request: IncomingMessage): boolean {
  return !request.complete && request.headers.expect === undefined
}

function tooQuiet({ host }: URL, ms: number): ToolError {
  return new ToolError('HTTP_TIMEOUT', `Nothing went to or came from ${host} for ${ms} ms.`)
}
