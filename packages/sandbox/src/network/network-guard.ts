import { type Clock, type FetchOptions, type GuardedFetch, lazyModule, systemClock, ToolError } from '@tool-hub/core'
import { Later } from '@tool-hub/core/lib'
import {
  type HostAddresses,
  HostResolver,
  isMetadata,
  judgeUrl,
  matchHost,
  parseHosts,
  parseRanges,
  type Resolve,
} from './judge-destination.ts'
import type { CommandNetwork } from './proxy/connect-to-host.ts'
import type { OpenedProxy, ProxySettings } from './proxy/open-proxy.ts'
import { DeadlineWatch } from './request/deadline.ts'
import { type BoundSecret, openSecrets } from './request/fill-secrets.ts'
import type { Order } from './request/guarded-request.ts'
import { checkHttpRequest, defaultHeaders } from './request/http-request.ts'
import { type DialOptions, PinnedConnections } from './request/pinned-connections.ts'
import type { BodyLimit } from './request/read-body.ts'
import type { NetworkCall } from './request/transfer.ts'

const loadOpenProxy = lazyModule(() => import('./proxy/open-proxy.ts'))
const requests = new Later(lazyModule(() => import('./request/guarded-request.ts')))

export type { NetworkCall } from './request/transfer.ts'

/** The owner's settings for the network. `dial` replaces the connection itself, for tests that must not leave the machine. */
export interface NetworkGuardOptions extends DialOptions {
  /** `api.github.com`, `*.example.org`, or `*` for any public host. */
  readonly allowedHosts: readonly string[]
  /** Private ranges that are opened, as CIDR. */
  readonly privateRanges: readonly string[]
  /** Ranges that are refused, even if they are public or opened, as CIDR. */
  readonly blockedRanges?: readonly string[]
  /** The most bytes of a body that a request may ask for if it is read completely. */
  readonly maxBytes: number
  /** The most bytes of such a body for requests that set no limit. Default: `maxBytes`. */
  readonly usualBytes?: number
  /** The most bytes of a body that is streamed. Default: `maxBytes`. */
  readonly maxDownloadBytes?: number
  /** For name resolution, connections, redirects and body together, for requests that set no timeout. */
  readonly timeoutMs: number
  /** The `User-Agent` of requests that set none. */
  readonly userAgent: string
  /** What `${secret:NAME}` in a header stands for, and the hosts that may see it. */
  readonly secrets?: ReadonlyMap<string, BoundSecret>
  /** Resolves host names, for tests. Default: the resolver of the system. */
  readonly resolve?: Resolve
  /** The source of time, for tests. Default: the machine's clock. */
  readonly clock?: Clock
}

/** Guards the network: tools reach hosts only through it. */
export interface NetworkGuard {
  /** The normal form of a URL whose scheme, spelling, port and host are allowed. Does not resolve the name. */
  resolve(url: string): string
  /**
   * The current addresses of the host of a URL, all checked. With `onlyNamed`, returns undefined without a query for a
   * name that the owner has not listed exactly.
   */
  locate(url: string, options: { readonly onlyNamed: boolean }): Promise<HostAddresses | undefined>
  /** The handle for one call. */
  handle(call: NetworkCall): GuardedFetch
  /** Opens a proxy for one command, with the same checks; the signal and the guard's `close` close it. */
  openProxy(network: CommandNetwork, signal: AbortSignal, settings?: ProxySettings): Promise<OpenedProxy>
  /** Closes all connections and proxies; pending requests fail. */
  close(): Promise<void>
}

const MAX_TIMEOUT_MS = 120_000
const MAX_JUDGED = 64
const NO_OPTIONS: FetchOptions = {}
const STREAM: FetchOptions = { stream: true }

/** Guards the network: every address is checked on every hop, at the moment it is dialled. */
export function createNetworkGuard(options: NetworkGuardOptions): NetworkGuard {
  const { clock = systemClock } = options
  const allowed = parseHosts(options.allowedHosts)
  const headers = defaultHeaders(options.userAgent)
  const connections = new PinnedConnections(options)
  const watch = new DeadlineWatch(clock)
  const proxies = new Set<OpenedProxy>()
  let isClosed = false
  const wire = {
    hosts: new HostResolver(options.resolve, parseRanges(options.privateRanges, options.blockedRanges)),
    connections,
    secrets: openSecrets(options.secrets),
    admit: ({ hostname }: URL) => {
      if (!matchHost(hostname, allowed)) throw notAllowed(hostname, options.allowedHosts)
    },
  }
  const judge = rememberJudged()
  const order = (url: string, asked: FetchOptions, call: NetworkCall): Order => {
    const parts = checkHttpRequest(asked, headers)
    return {
      first: { url: judge(url), ...parts, headers: withKey(parts, call) },
      options: asked,
      call,
      limit: bodyLimit(options, asked, call),
      streamLimit: () => bodyLimit(options, STREAM, call),
      timeoutMs: timeLimit(asked.timeoutMs ?? options.timeoutMs),
      clock,
      watch,
    }
  }
  return {
    resolve(text) {
      const url = judge(text)
      wire.admit(url)
      return url.href
    },
    async locate(text, { onlyNamed }) {
      const url = judge(text)
      wire.admit(url)
      const { hostname } = url
      const place = wire.hosts.literal(hostname)
      if (place !== undefined || (onlyNamed && !allowed.exact.has(hostname))) return place
      return wire.hosts.ask(hostname)
    },
    handle: (call) => {
      return async (url, asked = NO_OPTIONS) => {
        const ordered = order(url, asked, call)
        return requests.use(({ GuardedRequest }) => new GuardedRequest(wire, ordered).run())
      }
    },
    async openProxy(network, signal, settings) {
      // Loaded with the first command that may use the network: most hubs never run one.
      const { openProxy } = await loadOpenProxy()
      const checks = { judge, admit: wire.admit, hosts: wire.hosts, connect: options }
      const proxy = await openProxy(checks, { ...settings, network, signal })
      proxies.add(proxy)
      void proxy.closed.then(() => proxies.delete(proxy))
      if (!isClosed) return proxy
      await proxy.close()
      throw new ToolError('ABORTED', 'The network guard is closed.')
    },
    async close() {
      isClosed = true
      watch.close()
      await Promise.all([connections.close(), ...[...proxies].map((proxy) => proxy.close())])
    },
  }
}

/** Checks a URL once for policy and for the request that follows; the result cannot change. */
function rememberJudged(): (text: string) => URL {
  const judged = new Map<string, URL>()
  return (text) => {
    const known = judged.get(text)
    if (known) return known
    const url = judgeUrl(text)
    if (judged.size >= MAX_JUDGED) judged.clear()
    judged.set(text, url)
    return url
  }
}

/** The smallest of the limits of the request, the deciding rule and the owner, with a hint on who can raise it. */
function bodyLimit(owner: NetworkGuardOptions, asked: FetchOptions, call: NetworkCall): BodyLimit {
  const most = asked.stream ? (owner.maxDownloadBytes ?? owner.maxBytes) : owner.maxBytes
  const allowed = Math.min(call.maxBytes ?? most, most)
  const usual = asked.stream ? allowed : Math.min(owner.usualBytes ?? allowed, allowed)
  const maxBytes = Math.min(asked.maxBytes ?? usual, allowed)
  const hint = () => {
    const key = asked.stream ? 'limits.download' : 'limits.http'
    const raise =
      maxBytes < allowed
        ? `Raise maxBytes (at most ${allowed} here)`
        : `Have the owner raise ${allowed < most ? 'the size limit of the rule' : key}`
    return asked.stream ? `${raise}.` : `${raise}, or download it to a file.`
  }
  return { maxBytes, hint, overflow: asked.overflow ?? 'fail' }
}

function timeLimit(timeoutMs: number): number {
  if (timeoutMs > 0) return Math.min(timeoutMs, MAX_TIMEOUT_MS)
  throw new ToolError('INPUT_SCHEMA_INVALID', `timeoutMs is ${timeoutMs}, but it must be positive.`)
}

/** A POST that may be retried carries its key, so that the server can recognise a retry; a caller's key may be any text. */
function withKey({ method, headers }: Pick<Order['first'], 'method' | 'headers'>, call: NetworkCall) {
  if (method !== 'POST' || call.idempotencyKey === undefined || !call.postRetries) return headers
  return new Map([...headers, ['idempotency-key', encodeURIComponent(call.idempotencyKey)]])
}

const MAX_NAMED = 10

/** The second setting that a host on this machine needs, for the same hint. */
function rangeOf(hostname: string): string {
  if (hostname === '[::1]') return ' and ::1/128 to sandbox.privateRanges'
  return /^(?:localhost|127\.\d+\.\d+\.\d+)$/.test(hostname) ? ' and 127.0.0.1/32 to sandbox.privateRanges' : ''
}

function notAllowed(hostname: string, allowed: readonly string[]): ToolError {
  if (isMetadata(hostname)) {
    return new ToolError('HTTP_DISALLOWED_HOST', `${hostname} is a metadata address, which tools never reach.`, {
      hint: 'Use another host: no setting opens metadata addresses, because they return the credentials of the machine.',
    })
  }
  const named = allowed.slice(0, MAX_NAMED).join(', ') || 'none'
  const now = allowed.length > MAX_NAMED ? `${named} and ${allowed.length - MAX_NAMED} more` : named
  return new ToolError(
    'HTTP_DISALLOWED_HOST',
    `The host ${hostname} is not one the owner allows${allowed.length === 0 ? ': sandbox.network names none' : ''}.`,
    {
      fix: {
        key: 'sandbox.network',
        value: hostname,
        hint: `Use an allowed host (${now}), or have the owner add ${hostname} to sandbox.network${rangeOf(hostname)}.`,
      },
    },
  )
}
