import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, isIP, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { ToolError } from '@tool-hub/core'
import { closeServer, isLoopback, listening } from '@tool-hub/sandbox/system'
import { API_HEADERS, refuseUpgrade } from './answers.ts'
import type { HttpApp } from './create-http-app.ts'
import { MAX_HEADERS } from './request.ts'

const MAX_WAITING = 100

/** Options of `listenHttp`. */
export interface ListenOptions {
  /** Address to listen on. Default: 127.0.0.1. */
  readonly host?: string
  /** Default: 0, any free port. */
  readonly port?: number
  /** Key and certificate as PEM; needed to listen on other addresses than loopback. */
  readonly tls?: { readonly key: string; readonly cert: string }
  /** Allows unencrypted connections from other machines, e.g. from a TLS proxy. */
  readonly allowPlain?: boolean
  /** How long calls in progress may continue after `close`. Default: 5 s. */
  readonly graceMs?: number
  /** Handles upgrade requests, such as those of WebSockets, after their head was checked. */
  readonly onUpgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
  /** Concurrent connections; further ones are closed immediately. Default: no limit. */
  readonly maxConnections?: number
  /** Timeout of the head of a request. Default: 15 s. */
  readonly headersTimeoutMs?: number
  /** Timeout of a whole request. Default: 2 minutes. */
  readonly requestTimeoutMs?: number
  /** How often both timeouts are checked. Default: 5 s. */
  readonly timeoutCheckMs?: number
  /** A client that reads nothing of a response for this long is disconnected. Default: 30 s. */
  readonly drainMs?: number
  /** Bytes of responses buffered for all slow readers together. Default: 256 MB. */
  readonly maxUnreadBytes?: number
  /** How often that is checked. Default: once a second. */
  readonly unreadCheckMs?: number
}

/** A server that is listening. */
export interface HttpServer {
  /** `http://127.0.0.1:41234`. */
  readonly url: string
  readonly port: number
  /** Stops accepting requests, lets calls in progress end for the grace period, then closes all connections. */
  close(): Promise<void>
}

const GRACE_MS = 5_000
const HEADERS_TIMEOUT_MS = 15_000
const REQUEST_TIMEOUT_MS = 120_000
const KEEP_ALIVE_MS = 65_000
const TIMEOUT_CHECK_MS = 5_000
const DRAIN_MS = 30_000
const MAX_UNREAD_BYTES = 256 * 1024 * 1024
const UNREAD_CHECK_MS = 1_000
const MAX_HEADER_BYTES = 16 * 1024

/** Listens for HTTP. Default address: loopback; any other needs TLS or `allowPlain`. */
export async function listenHttp(app: HttpApp, options: ListenOptions = {}): Promise<HttpServer> {
  const { host = '127.0.0.1', port = 0, tls, graceMs = GRACE_MS } = options
  const address = host.replace(/^\[(.*)\]$/, '$1')
  checkReach(address, options)
  const limits = serverLimits(options)
  const turns = new AnswerTurns(app.listener)
  const server = tls ? createTlsServer({ ...limits, ...tls }, turns.listener) : createServer(limits, turns.listener)
  server.maxHeadersCount = MAX_HEADERS
  server.maxRequestsPerSocket = 0
  if (options.maxConnections !== undefined) server.maxConnections = options.maxConnections
  cutSlowReaders(server, turns, options)
  const upgraded = handUpgrades(server, app, options.onUpgrade)
  await listening(server, address, port)
  const { port: bound } = server.address() as AddressInfo
  let closing: Promise<void> | undefined
  return {
    url: `${tls ? 'https' : 'http'}://${isIP(address) === 6 ? `[${address}]` : address}:${bound}`,
    port: bound,
    close() {
      closing ??= Promise.all([app.close({ graceMs }), closeServer(server, { graceMs, upgraded })]).then(() => {})
      return closing
    },
  }
}

/** Limits time and size of a head, and refuses what two parsers could read differently. */
function serverLimits(options: ListenOptions): ServerOptions {
  const { headersTimeoutMs = HEADERS_TIMEOUT_MS, requestTimeoutMs = REQUEST_TIMEOUT_MS } = options
  return {
    insecureHTTPParser: false,
    requireHostHeader: true,
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: options.timeoutCheckMs ?? TIMEOUT_CHECK_MS,
    noDelay: true,
  }
}

/** Disconnects clients that do not read their responses. */
function cutSlowReaders(server: Server, turns: AnswerTurns, options: ListenOptions): void {
  const { drainMs = DRAIN_MS, unreadCheckMs = UNREAD_CHECK_MS, maxUnreadBytes = MAX_UNREAD_BYTES } = options
  server.timeout = drainMs
  server.on('timeout', turns.onTimeout)
  const check = setInterval(() => turns.cutTo(maxUnreadBytes), unreadCheckMs).unref()
  server.once('close', () => clearInterval(check))
}

function checkReach(address: string, { tls, allowPlain = false }: ListenOptions): void {
  if (tls || allowPlain || isLoopback(address)) return
  throw new ToolError(
    'CONFIG_INVALID',
    `${address} can be reached from other machines, and tokens would go there plainly.`,
    {
      hint: 'Listen on 127.0.0.1 behind a proxy that speaks https; with service.publicUrl, the address people use, also on others.',
    },
  )
}

/** Passes upgrade requests on; returns the connections that were upgraded. */
function handUpgrades(server: Server, app: HttpApp, onUpgrade: ListenOptions['onUpgrade']): ReadonlySet<Duplex> {
  const upgraded = new Set<Duplex>()
  if (!onUpgrade) return upgraded
  server.on('upgrade', (request, socket, head) => {
    upgraded.add(socket)
    socket.once('close', () => upgraded.delete(socket))
    // The new owner adds its own listener; until then a broken connection must not end the process.
    socket.on('error', () => socket.destroy())
    const refusal = app.refuseHead(request)
    if (refusal) refuseUpgrade(socket, refusal.status, refusal, { ...API_HEADERS, ...refusal.headers })
    else onUpgrade(request, socket, head)
  })
  return upgraded
}

/** Handles one request. */
type RequestListener = (request: IncomingMessage, response: ServerResponse) => void

/** A connection: whether a response is in progress, and the requests that wait for it. */
interface Line {
  isBusy: boolean
  readonly waiting: (readonly [IncomingMessage, ServerResponse])[]
  readonly next: () => void
}

/**
 * Answers the requests of a connection one after the other, so that a client that does not read has only one response
 * in memory, however many requests it pipelines. Disconnects clients that read nothing.
 */
class AnswerTurns {
  readonly #listener: RequestListener
  readonly #lines = new Map<Socket, Line>()

  constructor(listener: RequestListener) {
    this.#listener = listener
  }

  readonly listener: RequestListener = (request, response) => {
    const { socket } = request
    const line = this.#lines.get(socket) ?? this.#open(socket)
    if (!line.isBusy) return this.#begin(line, request, response)
    if (line.waiting.length < MAX_WAITING) line.waiting.push([request, response])
    else socket.destroy()
  }

  /** Called when a connection was idle for a while, which is fine only while it waits for its response. */
  readonly onTimeout = (socket: Socket): void => {
    const isAwaited = this.#lines.get(socket)?.isBusy && socket.writableLength === 0
    if (!isAwaited) socket.destroy()
  }

  /** Disconnects the clients with the largest buffers until all together have at most this many bytes. */
  cutTo(maxBytes: number): void {
    let bytes = 0
    for (const socket of this.#lines.keys()) bytes += socket.writableLength
    if (bytes <= maxBytes) return
    for (const socket of [...this.#lines.keys()].sort((a, b) => b.writableLength - a.writableLength)) {
      if (bytes <= maxBytes) return
      bytes -= socket.writableLength
      socket.destroy()
    }
  }

  #open(socket: Socket): Line {
    const waiting: Line['waiting'] = []
    const next = () => {
      line.isBusy = false
      const following = waiting.shift()
      if (following && !socket.destroyed) this.#begin(line, ...following)
    }
    const line: Line = { isBusy: false, waiting, next }
    this.#lines.set(socket, line)
    socket.once('close', () => this.#lines.delete(socket))
    return line
  }

  #begin(line: Line, request: IncomingMessage, response: ServerResponse): void {
    line.isBusy = true
    response.once('close', line.next)
    this.#listener(request, response)
  }
}
