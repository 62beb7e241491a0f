import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { lazyModule, ToolError } from '@tool-hub/core'
import type { buildConnector, Client, Dispatcher } from 'undici'
import { canonicalAddress } from '../judge-destination.ts'

const loadUndici = lazyModule(() => import('undici'))

const MAX_IDLE = 128
// The deadline of the request covers everything; undici's own timers would only interfere.
const NO_OWN_LIMITS = { headersTimeout: 0, bodyTimeout: 0, maxHeaderSize: 32_768 }

/** The connections of a guard: one request at a time on each, kept alive for the same origin at the same address only. */
export class PinnedConnections {
  readonly #options: DialOptions
  readonly #all = new Set<PinnedConnection>()
  /** By address and origin; the connection that was used last is at the end. */
  readonly #idle = new Map<string, PinnedConnection[]>()
  #idleCount = 0
  #undici: typeof import('undici') | undefined
  #isClosed = false

  constructor(options: DialOptions) {
    this.#options = options
  }

  /** Loads undici with the first request: most hubs never make one. Undefined once it is loaded. */
  load(): Promise<void> | undefined {
    if (this.#undici) return undefined
    return loadUndici().then((undici) => {
      this.#undici = undici
    })
  }

  /** An unused connection to this address; opened on its first request if there is none. */
  take(address: string, origin: string): PinnedConnection {
    if (this.#isClosed) throw closed()
    const key = `${address} ${origin}`
    const idle = this.#idle.get(key)
    const kept = idle?.pop()
    if (kept) {
      this.#idleCount -= 1
      if (idle!.length === 0) this.#idle.delete(key)
      kept.isIdle = false
      return kept
    }
    const connection = new PinnedConnection(key, this, (hold) => {
      const connect = connectPinned(address, this.#options, hold)
      return new this.#undici!.Client(origin, { connect, ...NO_OWN_LIMITS })
    })
    this.#all.add(connection)
    return connection
  }

  /** Takes back a connection whose request is complete. */
  keep(connection: PinnedConnection): void {
    const list = this.#idle.get(connection.key)
    if (list) list.push(connection)
    else this.#idle.set(connection.key, [connection])
    connection.isIdle = true
    this.#idleCount += 1
    // A map keeps its order: the first entry is the oldest.
    if (this.#idleCount > MAX_IDLE) void this.#idle.values().next().value![0]!.destroy()
  }

  /** Removes a closed connection. */
  drop(connection: PinnedConnection): void {
    this.#all.delete(connection)
    if (!connection.isIdle) return
    const left = this.#idle.get(connection.key)!.filter((other) => other !== connection)
    if (left.length > 0) this.#idle.set(connection.key, left)
    else this.#idle.delete(connection.key)
    this.#idleCount -= 1
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#all].map((connection) => connection.destroy(closed())))
  }
}

/** One connection to one address. */
export class PinnedConnection {
  readonly key: string
  isIdle = false
  readonly #home: PinnedConnections
  readonly #client: Client
  #giveUp: (() => void) | undefined

  constructor(
    key: string,
    home: PinnedConnections,
    makeClient: (hold: (giveUp: (() => void) | undefined) => void) => Client,
  ) {
    this.key = key
    this.#home = home
    this.#client = makeClient((giveUp) => {
      this.#giveUp = giveUp
    })
    // The server, or undici after some idle seconds, has closed it.
    this.#client.on('disconnect', () => this.isIdle && this.destroy())
  }

  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.#client.dispatch(options, handler)
  }

  /** Returns it for the next request. */
  release(): void {
    if (!this.#client.destroyed) this.#home.keep(this)
  }

  /** Closes it in any state: connecting, waiting or in the middle of a body. */
  destroy(reason?: Error): Promise<void> {
    this.#home.drop(this)
    this.isIdle = false
    const gone = this.#client.destroy(reason ?? null)
    this.#giveUp?.()
    return gone
  }
}

function closed(): ToolError {
  return new ToolError('ABORTED', 'The network guard is closed.')
}

const CONNECT_TIMEOUT_MS = 10_000

/** Opens a connection to a checked address; tests replace it to stay on the machine. */
type Dial = (address: string, port: number) => Socket

/** How connections are made. */
export interface DialOptions {
  /** Opens the connection, for tests. Default: a TCP or TLS connection. */
  readonly dial?: Dial
  /** Certificate authorities (PEM) to trust instead of the system's. */
  readonly ca?: string
}

/** A connection that could not be established: nothing was sent, so another address may be tried. */
export class ConnectError extends Error {}

/**
 * A connector for undici that only ever reaches one address, whatever name it is asked for. undici cannot stop a
 * connection that is being made, so `hold` gets the way to give it up, and undefined once it is made or failed.
 */
function connectPinned(
  address: string,
  { dial, ca }: DialOptions,
  hold: (giveUp: (() => void) | undefined) => void,
): buildConnector.connector {
  return ({ protocol, hostname, port }, callback) => {
    const isSecure = protocol === 'https:'
    const tcp = (dial ?? dialAddress)(address, Number(port || (isSecure ? 443 : 80)))
    const socket = isSecure ? secure(tcp, hostname, ca) : tcp

    let isSettled = false
    const settle = (error: Error | undefined) => {
      if (isSettled) return
      isSettled = true
      clearTimeout(timer)
      hold(undefined)
      if (!error) return callback(null, socket)
      socket.destroy()
      tcp.destroy()
      callback(ToolError.is(error) ? error : new ConnectError(error.message, { cause: error }), null)
    }
    const timer = setTimeout(settle, CONNECT_TIMEOUT_MS, new Error(`no connection in ${CONNECT_TIMEOUT_MS} ms`))
    hold(() => settle(new Error('given up')))
    // These listeners stay: an error event without a listener would end the process.
    for (const each of new Set([tcp, socket])) each.on('error', settle)
    // A server that closes the connection during the handshake causes no other event.
    socket.once('close', () => settle(new Error('the connection was closed while it was made')))
    socket.once(isSecure ? 'secureConnect' : 'connect', () => settle(dial ? undefined : refuseStranger(tcp, address)))
  }
}

/** Opens a plain connection to a checked address; the signal gives it up while it is made. */
export function dialPinned(address: string, port: number, options: DialOptions, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    let giveUp: (() => void) | undefined
    const stop = () => giveUp?.()
    signal.addEventListener('abort', stop, { once: true })
    const connector = connectPinned(address, options, (how) => {
      giveUp = how
    })
    // `http:` means that the guard adds no TLS: that is between the client and the server.
    connector({ protocol: 'http:', hostname: address, port: String(port) }, (error, socket) => {
      signal.removeEventListener('abort', stop)
      if (error) reject(error)
      else resolve(socket)
    })
  })
}

/** Compares the address that a socket reached with the checked one. */
export function refuseStranger(
  { remoteAddress }: Pick<Socket, 'remoteAddress'>,
  address: string,
): ToolError | undefined {
  if (remoteAddress !== undefined && canonicalAddress(remoteAddress) === address) return undefined
  return new ToolError(
    'HTTP_DISALLOWED_HOST',
    `The connection reached ${remoteAddress}, not the judged address ${address}.`,
  )
}

function secure(socket: Socket, hostname: string, ca: string | undefined) {
  return connectTls({
    socket,
    host: hostname,
    servername: isIP(hostname) > 0 ? undefined : hostname,
    ALPNProtocols: ['http/1.1'],
    // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED in the environment has no effect.
    rejectUnauthorized: true,
    ca,
  })
}

function dialAddress(address: string, port: number): Socket {
  return connectTcp({ host: address, port, noDelay: true, keepAlive: true })
}
