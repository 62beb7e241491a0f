import { ConnectError } from './connect-pinned.ts'
import type { Deadline } from './deadline.ts'
import { fillSecrets, type SecretStore } from './fill-secrets.ts'
import type { HostResolver, Place } from './host-resolver.ts'
import type { NetworkCall } from './network-call.ts'
import type { Hop } from './next-hop.ts'
import type { PinnedConnections } from './pinned-connections.ts'
import { isSending } from './request-parts.ts'
import { Transfer } from './transfer.ts'

/** What every request of a guard uses. */
export interface Wire {
  readonly hosts: HostResolver
  readonly connections: PinnedConnections
  readonly secrets: SecretStore
  /** Throws when the host of a URL is not one the owner allows. */
  admit(url: URL): void
}

/** Judges one request and sends it; `extra` are headers for this hop alone. The body of the answer is not read. */
export async function sendHop(
  wire: Wire,
  hop: Hop,
  call: NetworkCall,
  deadline: Deadline,
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

/** Sends to the first of the judged addresses that takes the connection. */
async function sendToFirst(
  { connections }: Wire,
  { url, method, body }: Hop,
  { addresses }: Place,
  headers: Hop['headers'],
  deadline: Deadline,
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
