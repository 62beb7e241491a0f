import type { Socket } from 'node:net'
import { messageOf, ToolError, throwIfAborted } from '@tool-hub/core'
import type { HostResolver } from '../judge-destination.ts'
import { toNetworkError } from '../request/exchange.ts'
import { ConnectError, type DialOptions, dialPinned } from '../request/pinned-connections.ts'

/** The checks of a network guard that the proxy shares. */
export interface ProxyGuard {
  /** The normal form of a URL; throws if its spelling or port may not be used. */
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
      return { socket: await dialPinned(address, port, connect, signal), address, port }
    } catch (error) {
      failure = error
      if (!(error instanceof ConnectError)) break
    }
  }
  throwIfAborted(signal)
  throw toNetworkError(failure, url)
}

/** Waits for something that cannot be stopped, unless the connection ends before. */
function unlessStopped<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

/** The response to a client whose request is refused. */
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

/** Describes why the connection failed. Unexpected failures are not described to the client. */
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

/** Whether a check refused the connection; false if a permitted connection failed. */
export function isRefusal(error: unknown): boolean {
  return statusOf(error) < 500
}

/** A check that refuses, or that cannot be made, refuses the connection. */
function statusOf(error: unknown): number {
  return ToolError.is(error) ? (STATUS.get(error.code) ?? 403) : 500
}

/** The limits of one proxy. */
export interface ProxyLimits {
  /** For all connections and both directions together. */
  readonly maxBytes: number
  /** Concurrent connections; one more is closed immediately. */
  readonly maxConnections: number
  /** How long a connection may be idle. */
  readonly idleMs: number
  /** For each step of opening a connection: its request, name resolution and connection, its first bytes. */
  readonly openMs: number
}

/** Default limits: enough for `git clone` and `npm ci` of large projects. */
export const PROXY_LIMITS: ProxyLimits = {
  maxBytes: 2 ** 31,
  maxConnections: 128,
  idleMs: 120_000,
  openMs: 15_000,
}

/** What a command may reach, decided for each connection. */
export interface CommandNetwork {
  /** Throws a ToolError when the URL may not be reached. */
  readonly permits: (url: string) => void
  /** Called for every connection, permitted or refused: `connected to …`, `refused: …`, `failed: …`. */
  readonly onConnection: (url: string, outcome: string) => void
}

const MAX_URL_CHARS = 512

/** One request of a command to the proxy: its outcome is reported once, and it can be stopped at any time. */
export class ProxyConnection {
  readonly signal: AbortSignal
  readonly #network: CommandNetwork
  readonly #keep: (socket: Socket) => void
  readonly #stopping = new AbortController()
  #url: string
  #isTold = false
  #timer: NodeJS.Timeout | undefined

  /** `keep` gets every socket that it opens. */
  constructor(network: CommandNetwork, asked: string, keep: (socket: Socket) => void) {
    this.#network = network
    this.#keep = keep
    this.#url = asked.slice(0, MAX_URL_CHARS)
    this.signal = this.#stopping.signal
  }

  /** Checks whether a URL may be reached; from now on it names the connection. */
  permit(url: URL, admit: (url: URL) => void): void {
    this.#url = url.href
    admit(url)
    this.#network.permits(url.href)
  }

  /** Closes the socket when the connection is stopped. */
  hold(socket: Socket): void {
    this.#keep(socket)
    this.signal.addEventListener('abort', () => socket.destroy(), { once: true })
    throwIfAborted(this.signal)
  }

  /** Reports that it is connected. If that fails, it must not be connected. */
  connected(address: string, port: number): void {
    this.#report(`connected to ${address.includes(':') ? `[${address}]` : address}:${port}`)
  }

  /** Reports that it will not be connected. */
  failed(error: unknown): void {
    if (this.#isTold) return
    try {
      this.#report(`${isRefusal(error) ? 'refused' : 'failed'}: ${messageOf(error)}`)
    } catch {
      // Nothing was connected, and the receiver of the report is the one that failed.
    }
  }

  /** Starts the timeout of the next step. */
  allow(ms: number, step: string): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.stop(tooSlow(step, ms)), ms)
  }

  /** Ends the timeout of the current step. */
  opened(): void {
    clearTimeout(this.#timer)
  }

  /** Ends it in any state. */
  stop(reason: ToolError = new ToolError('ABORTED', 'The client went away.')): void {
    clearTimeout(this.#timer)
    this.#stopping.abort(reason)
  }

  #report(outcome: string): void {
    this.#isTold = true
    this.#network.onConnection(this.#url, outcome)
  }
}

function tooSlow(step: string, ms: number): ToolError {
  return new ToolError('HTTP_TIMEOUT', `${step} took more than ${ms} ms.`)
}
