import type { Dispatcher } from 'undici'
import { ConnectError } from './connect-pinned.ts'
import type { Deadline } from './deadline.ts'
import type { Hop } from './next-hop.ts'
import type { PinnedAgents } from './pinned-agents.ts'

/** An answer whose body has not been read. */
export interface HopResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Dispatcher.ResponseData['body']
}

/** Sends one request to the first of the judged addresses that takes the connection. */
export async function sendHop(
  hop: Hop,
  addresses: readonly string[],
  agents: PinnedAgents,
  deadline: Deadline,
): Promise<HopResponse> {
  let failure: unknown
  for (const address of addresses) {
    try {
      return await sendTo(address, hop, agents, deadline)
    } catch (error) {
      if (!(error instanceof ConnectError)) throw error
      failure = error
    }
  }
  throw failure
}

async function sendTo(address: string, hop: Hop, agents: PinnedAgents, deadline: Deadline): Promise<HopResponse> {
  const { url, method, headers, body } = hop
  const agent = await agents.for(address)
  deadline.check()
  const request = agent.request({
    origin: url.origin,
    path: url.pathname + url.search,
    method,
    headers: Object.fromEntries(headers),
    body,
    signal: deadline.signal,
  })
  // undici hears the signal only once it is connected.
  const response = await deadline.race(request)
  return { status: response.statusCode, headers: plainHeaders(response.headers), body: response.body }
}

function plainHeaders(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]))
}
