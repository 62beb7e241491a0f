import type { RequestDeadline } from './deadline.ts'
import type { Hop } from './exchange.ts'
import { fillSecrets, type SecretStore } from './fill-secrets.ts'
import type { HostAddresses, HostResolver } from './host-resolver.ts'
import { ConnectError, type PinnedConnections } from './pinned-connections.ts'
import { isSending } from './request-parts.ts'
import type { ResponseCache } from './response-cache.ts'
import { Transfer } from './transfer.ts'

/** What one call may do on the network, and the services of the pipeline that it uses meanwhile. */
export interface NetworkCall {
  /** Aborts when the call is stopped or its time is over. */
  readonly signal: () => AbortSignal
  /** Calls the listener with the reason when the call is stopped; cheaper than a signal. Returns how to unsubscribe. */
  readonly onStop?: (listener: (reason: unknown) => void) => () => void
  /** Most bytes of one response, as the deciding rule says. Default: the guard's own limit. */
  readonly maxBytes?: number
  /** Throws when policy did not decide on this URL; asked for every hop, `send` for those that may carry data out. */
  readonly permits?: (url: string, capability: 'network' | 'send') => void
  /** Waited for before the first byte of a request that may carry data out: the intent is on record. */
  readonly beforeSend?: () => Promise<void> | undefined
  /** An answer has arrived, of any hop or from the cache: from now on the call holds untrusted content. */
  readonly onAnswer?: () => void
  /** Called before a request is repeated. */
  readonly onRetry?: () => void
  /** Answers that this run got before. */
  readonly cache?: ResponseCache
  /** With both of these a POST is repeated, too, and carries the key. */
  readonly idempotencyKey?: string
  /** How often a request that sends data is repeated. Default: never. */
  readonly postRetries?: number
}

/** What every request of a guard uses. */
export interface Wire {
  readonly hosts: HostResolver
  readonly connections: PinnedConnections
  readonly secrets: SecretStore
  /** Throws when the host of a URL is not one the owner allows. */
  admit(url: URL): void
}

/** Checks one request and sends it; `extra` are headers for this hop alone. The body of the answer is not read. */
export async function sendHop(
  wire: Wire,
  hop: Hop,
  call: NetworkCall,
  deadline: RequestDeadline,
  extra?: ReadonlyMap<string, string>,
): Promise<Transfer> {
  permitUrl(wire, hop.url, call)
  if (isSending(hop.method)) call.permits?.(hop.url.href, 'send')
  const { hostname } = hop.url
  const place = wire.hosts.literal(hostname) ?? (await deadline.wait(wire.hosts.ask(hostname)))
  const headers = fillSecrets(hop.headers, hop.url, wire.secrets, place.isOpened)
  const loading = wire.connections.load()
  if (loading) await deadline.wait(loading)
  if (isSending(hop.method)) {
    const recording = call.beforeSend?.()
    if (recording) await deadline.wait(recording)
  }
  deadline.check()
  const transfer = await sendToFirst(wire, hop, place, extra ? new Map([...headers, ...extra]) : headers, deadline)
  call.onAnswer?.()
  return transfer
}

/** Asks whether a URL may be reached in this call at all. */
export function permitUrl(wire: Wire, url: URL, call: NetworkCall): void {
  wire.admit(url)
  call.permits?.(url.href, 'network')
}

/** Sends to the first checked address that accepts the connection. */
async function sendToFirst(
  { connections }: Wire,
  { url, method, body }: Hop,
  { addresses }: HostAddresses,
  headers: Hop['headers'],
  deadline: RequestDeadline,
): Promise<Transfer> {
  const options = { path: url.pathname + url.search, method, headers, body }
  let failure: unknown
  for (const address of addresses) {
    const transfer = new Transfer(connections.take(address, url.origin))
    deadline.during((reason) => transfer.abort(reason))
    try {
      return await transfer.send(options)
    } catch (error) {
      if (!(error instanceof ConnectError)) throw error
      failure = error
    }
  }
  throw failure
}
