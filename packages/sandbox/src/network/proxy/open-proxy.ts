import { once } from 'node:events'
import { chmod, lchown, mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { ToolError, throwIfAborted } from '@tool-hub/core'
import { privateFolder } from '../../system/index.ts'
import {
  type CommandNetwork,
  PROXY_LIMITS,
  ProxyConnection,
  type ProxyGuard,
  type ProxyLimits,
} from './connect-to-host.ts'
import { forwardRequest, MAX_HEADER_BYTES } from './forward-request.ts'
import { openTunnel } from './open-tunnel.ts'

/** A proxy that listens. */
export interface OpenedProxy {
  /** Its unix socket, in a folder that only the owner of the hub can enter. */
  readonly socket: string
  /** Resolves when it is closed, for whatever reason. */
  readonly closed: Promise<void>
  /** Closes it and all of its connections. */
  close(): Promise<void>
}

/** The settings of a proxy. */
export interface ProxySettings {
  /** Limits on connections. Default: those of the proxy. */
  readonly limits?: Partial<ProxyLimits>
  /** The user whose commands use it, if that is not the hub's own user; needs root. */
  readonly owner?: { readonly uid: number; readonly gid: number }
}

/** The command for which a proxy is opened. */
export interface ProxyOptions extends ProxySettings {
  readonly network: CommandNetwork
  /** Closes it. */
  readonly signal: AbortSignal
}

// The longest path that every system can bind a socket to has 103 bytes.
const MAX_FOLDER_BYTES = 80

/** Opens a CONNECT and HTTP/1.1 proxy for one command; everything that goes through it is checked like a request of a tool. */
export async function openProxy(guard: ProxyGuard, options: ProxyOptions): Promise<OpenedProxy> {
  const { network, signal, owner } = options
  throwIfAborted(signal)
  const limits = { ...PROXY_LIMITS, ...options.limits }
  const use = new ProxyUse(network, limits)
  const server = createProxyServer(guard, use, limits)
  // Not among temporary files, which an owner may let commands see: one command could use the proxy of another.
  const folder = await mkdtemp(join(shortEnough(privateFolder()), 'hub-'))
  const stop = () => void close()
  const { close, closed } = closeOnce(server, use, async () => {
    signal.removeEventListener('abort', stop)
    // An empty folder that cannot be removed does no harm.
    await rm(folder, { recursive: true, force: true }).catch(() => {})
  })
  try {
    const socket = join(folder, 'proxy.sock')
    server.listen({ path: socket, exclusive: true })
    await once(server, 'listening')
    await chmod(socket, 0o600)
    // The folder last: until then nothing can take the socket's place.
    for (const path of owner ? [socket, folder] : []) await lchown(path, owner!.uid, owner!.gid)
    throwIfAborted(signal)
    signal.addEventListener('abort', stop, { once: true })
    return { socket, closed, close }
  } catch (error) {
    await close()
    throw error
  }
}

function createProxyServer(guard: ProxyGuard, use: ProxyUse, limits: ProxyLimits): Server {
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    insecureHTTPParser: false,
    noDelay: true,
    // One timer from the first byte to the last header, set below, is stricter than these two.
    headersTimeout: 0,
    requestTimeout: 0,
  })
  // One message per connection: what follows it is never read as a message.
  server.maxRequestsPerSocket = 1
  server.maxConnections = limits.maxConnections
  // For a client that does not read its response.
  server.timeout = limits.idleMs + limits.openMs

  const forward = (request: IncomingMessage, response: ServerResponse) => {
    response.shouldKeepAlive = false
    const connection = use.begin(request.socket, request.url ?? '')
    void forwardRequest(guard, { request, response, connection, limits, count: use.count })
  }
  server.on('connection', (client: Socket) => use.welcome(client))
  server.on('request', forward)
  server.on('checkContinue', forward)
  server.on('checkExpectation', forward)
  server.on('connect', (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    const client = stream as Socket
    // A tunnel must not follow a message either.
    if (use.hasBegun(client)) return client.destroy()
    const target = request.url ?? ''
    const connection = use.begin(client, `https://${target}/`)
    void openTunnel(guard, { client, head, target, connection, limits, count: use.count })
  })
  server.on('clientError', (error: NodeJS.ErrnoException, stream: Duplex) => {
    // In the middle of a body: a response that has begun is still sent.
    if (use.hasBegun(stream as Socket) || !stream.writable) return (stream as Socket).destroySoon()
    const status = error.code === 'HPE_HEADER_OVERFLOW' ? '431 Request Header Fields Too Large' : '400 Bad Request'
    const text = 'tool-hub: This is no HTTP/1.1 request that the proxy reads.\n'
    stream.end(`HTTP/1.1 ${status}\r\nContent-Length: ${text.length}\r\nConnection: close\r\n\r\n${text}`, () =>
      stream.destroy(),
    )
  })
  return server
}

/** Closes the server, its connections and its folder. */
function closeOnce(server: Server, use: ProxyUse, cleanUp: () => Promise<void>) {
  let isClosing = false
  let settle: (closed: Promise<void>) => void
  const closed = new Promise<void>((resolve) => {
    settle = resolve
  })
  const finish = async () => {
    const isGone = server.listening ? once(server, 'close') : undefined
    server.close()
    use.end(new ToolError('ABORTED', 'The proxy is closed.'))
    await isGone
    await cleanUp()
  }
  const close = () => {
    if (!isClosing) settle(finish())
    isClosing = true
    return closed
  }
  return { close, closed }
}

function shortEnough(folder: string): string {
  return Buffer.byteLength(folder) > MAX_FOLDER_BYTES ? tmpdir() : folder
}

/** The connections of one proxy: who is connected, how many bytes have passed, and how to end them. */
export class ProxyUse {
  readonly #network: CommandNetwork
  readonly #limits: ProxyLimits
  readonly #sockets = new Set<Socket>()
  readonly #connections = new Set<ProxyConnection>()
  readonly #begun = new WeakSet<Socket>()
  readonly #waiting = new WeakMap<Socket, NodeJS.Timeout>()
  #bytes = 0
  #ended: ToolError | undefined

  constructor(network: CommandNetwork, limits: ProxyLimits) {
    this.#network = network
    this.#limits = limits
  }

  /** A client has connected, and has limited time to send its request. */
  welcome(client: Socket): void {
    // Always there: an error event without a listener would end the process.
    client.on('error', () => client.destroy())
    this.#keep(client)
    const timer = setTimeout(() => client.destroy(), this.#limits.openMs)
    this.#waiting.set(client, timer)
    client.once('close', () => clearTimeout(timer))
  }

  /** A client has sent its request. */
  begin(client: Socket, asked: string): ProxyConnection {
    clearTimeout(this.#waiting.get(client))
    this.#begun.add(client)
    const connection = new ProxyConnection(this.#network, asked, (socket) => this.#keep(socket))
    this.#connections.add(connection)
    client.once('close', () => this.#connections.delete(connection))
    if (this.#ended) connection.stop(this.#ended)
    return connection
  }

  /** Whether a client has sent its request. */
  hasBegun(client: Socket): boolean {
    return this.#begun.has(client)
  }

  /** Counts bytes; ends everything once there are too many. */
  readonly count = (bytes: number): void => {
    this.#bytes += bytes
    // Written so that a limit that is not a number stops everything.
    if (this.#bytes <= this.#limits.maxBytes) return
    this.end(
      new ToolError('HTTP_TOO_LARGE', `More than ${this.#limits.maxBytes} bytes went through the proxy.`, {
        hint: 'Fetch less in one command.',
      }),
    )
  }

  /** Ends all current and future connections. */
  end(reason: ToolError): void {
    this.#ended = reason
    for (const connection of this.#connections) connection.stop(reason)
    for (const socket of this.#sockets) socket.destroy()
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
  }
}
