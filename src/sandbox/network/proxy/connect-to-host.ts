import type { Socket } from 'node:net'
import { ToolError } from '../../../core/index.ts'
import { throwIfAborted } from '../../throw-if-aborted.ts'
import { toNetworkError } from '../exchange.ts'
import type { HostResolver } from '../host-resolver.ts'
import { ConnectError, connectPinned, type DialOptions } from '../pinned-connections.ts'

/** The checks of a network guard that the proxy shares. */
export interface ProxyGuard {
  /** The normal form of a URL; throws when its spelling or port may not be used. */
  judge(text: string): URL
  /** Throws when the host is not one the owner allows. */
  admit(url: URL): void
  readonly hosts: HostResolver
  readonly connect: DialOptions
}

/** A plain connection to a checked address. */
interface OpenedConnection {
  readonly socket: Socket
  readonly address: string
  readonly port: number
}

/** Connects to the host of an admitted URL: every address of its name is checked, and the first that answers is used. */
export async function connectToHost(
  { hosts, connect }: ProxyGuard,
  url: URL,
  signal: AbortSignal,
): Promise<OpenedConnection> {
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  const { addresses } = hosts.literal(url.hostname) ?? (await unlessStopped(hosts.ask(url.hostname), signal))
  let failure: unknown
  for (const address of addresses) {
    throwIfAborted(signal)
    try {
      return { socket: await dial(address, port, connect, signal), address, port }
    } catch (error) {
      failure = error
      if (!(error instanceof ConnectError)) break
    }
  }
  throwIfAborted(signal)
  throw toNetworkError(failure, url)
}

function dial(address: string, port: number, options: DialOptions, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
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

/** Waits for something that cannot be stopped, unless the connection is over before. */
function unlessStopped<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

/** What the proxy answers a client whose request it refuses. */
interface ProxyRefusal {
  readonly status: number
  /** Short and ASCII, for the status line: Go and Python show nothing else. */
  readonly reason: string
  /** One line: what happened to which host, and what to do. */
  readonly text: string
}

const MAX_REASON_CHARS = 200
const BREAKS = /[\p{Cc}\u2028\u2029]+/gu
const NOT_ASCII = /[^\x20-\x7e]/g
const STATUS = new Map<string, number>([
  ['INPUT_SCHEMA_INVALID', 400],
  ['UPSTREAM_ERROR', 502],
  ['HTTP_TIMEOUT', 504],
  ['ABORTED', 502],
])

/** Says why there is no connection. Anything that is not an expected failure stays inside. */
export function toRefusal(error: unknown, asked: string): ProxyRefusal {
  const known = ToolError.is(error)
  const message = known ? error.message : 'The proxy failed.'
  const named = message.includes(asked) ? message : `${asked}: ${message}`
  return {
    status: statusOf(error),
    reason: named.replace(BREAKS, ' ').replace(NOT_ASCII, '?').slice(0, MAX_REASON_CHARS),
    text: `tool-hub: ${named}${known ? ` ${error.fix.hint}` : ''}`.replace(BREAKS, ' '),
  }
}

/** True when the answer was no; false when something that might have been allowed went wrong. */
export function isRefusal(error: unknown): boolean {
  return statusOf(error) < 500
}

/** A check that says no, or that cannot be made, is a no. */
function statusOf(error: unknown): number {
  return ToolError.is(error) ? (STATUS.get(error.code) ?? 403) : 500
}

/** The limits of one proxy. */
export interface ProxyLimits {
  /** Over all connections and both directions together. */
  readonly maxBytes: number
  /** Concurrent connections; one more is closed immediately. */
  readonly maxConnections: number
  /** How long a connection may carry nothing. */
  readonly idleMs: number
  /** For each step of opening a connection: its request, name and connection, its first words. */
  readonly openMs: number
}

/** Default limits: enough for `git clone` and `npm ci` of large projects. */
export const PROXY_LIMITS: ProxyLimits = {
  maxBytes: 2 ** 31,
  maxConnections: 128,
  idleMs: 120_000,
  openMs: 15_000,
}
