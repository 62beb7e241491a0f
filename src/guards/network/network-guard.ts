import { type Clock, systemClock } from '../../clock.ts'
import type { GuardedFetch } from '../../define.ts'
import { ToolError } from '../../errors.ts'
import type { Dial } from './connect-pinned.ts'
import { type Deadline, startDeadline } from './deadline.ts'
import { decodeText } from './decode-text.ts'
import { exchange } from './exchange.ts'
import { parseRanges } from './judge-address.ts'
import { judgeUrl } from './judge-url.ts'
import { matchHost, parseHosts } from './match-host.ts'
import type { Hop } from './next-hop.ts'
import { createPinnedAgents } from './pinned-agents.ts'
import { checkRequest, type RequestInit } from './request-parts.ts'
import { type Resolve, resolveHost, systemResolve } from './resolve-host.ts'
import { type HopResponse, sendHop } from './send-hop.ts'

/** What the owner says about the network. */
export interface NetworkGuardOptions {
  /** `api.github.com`, `*.example.org`, or `*` for any public host. */
  readonly allowedHosts: readonly string[]
  /** Private ranges that are opened, as CIDR. */
  readonly privateRanges: readonly string[]
  readonly maxBytes: number
  /** Over names, connections, redirects and body together. */
  readonly timeoutMs: number
  readonly userAgent: string
  readonly resolve?: Resolve
  /** Replaces the connection itself; the address it gets was judged. For tests that must not leave the machine. */
  readonly dial?: Dial
  /** Certificate authorities (PEM) to trust instead of the system's. */
  readonly ca?: string
  readonly clock?: Clock
}

/** What the pipeline says about one call. */
export interface NetworkCall {
  readonly signal: () => AbortSignal
  readonly maxBytes?: number
  /** Throws when policy did not decide on this URL; asked for the first and for every redirect. */
  readonly permits?: (url: string) => void
}

/** The only door to the network. */
export interface NetworkGuard {
  /** The normal form of a URL whose scheme, spelling, port and host are allowed. Asks no resolver. */
  resolve(url: string): string
  /** The handle for one call. */
  handle(call: NetworkCall): GuardedFetch
  close(): Promise<void>
}

/** Guards the network: every address that is dialled was judged, on every hop, at the moment of use. */
export function createNetworkGuard(options: NetworkGuardOptions): NetworkGuard {
  const { timeoutMs, userAgent, clock = systemClock, resolve = systemResolve } = options
  const hosts = parseHosts(options.allowedHosts)
  const open = parseRanges(options.privateRanges)
  const agents = createPinnedAgents(options)

  const admit = ({ hostname }: URL): void => {
    if (matchHost(hostname, hosts)) return
    throw new ToolError('HTTP_DISALLOWED_HOST', `The host ${hostname} is not one the owner allows.`, {
      fix: { key: 'sandbox.network', value: hostname, hint: 'Use an allowed host, or have the owner add this one.' },
    })
  }
  const send = async (hop: Hop, deadline: Deadline, permits: NetworkCall['permits']): Promise<HopResponse> => {
    admit(hop.url)
    permits?.(hop.url.href)
    const addresses = await deadline.race(resolveHost(hop.url.hostname, resolve, open))
    return sendHop(hop, addresses, agents, deadline)
  }
  const fetch = async (url: string, init: RequestInit, { signal, maxBytes, permits }: NetworkCall) => {
    const first = { url: judgeUrl(url), ...checkRequest(init, userAgent) }
    const limit = Math.min(init.maxBytes ?? options.maxBytes, maxBytes ?? options.maxBytes, options.maxBytes)
    const deadline = startDeadline(signal(), timeoutMs, clock)
    try {
      deadline.check()
      const answer = await exchange(first, (hop) => send(hop, deadline, permits), { limit, deadline })
      const { bytes, ...response } = answer
      return { ...response, text: async () => decodeText(bytes, response.headers['content-type']) }
    } finally {
      deadline.stop()
    }
  }

  return {
    resolve(text) {
      const url = judgeUrl(text)
      admit(url)
      return url.href
    },
    handle:
      (call) =>
      (url, init = {}) =>
        fetch(url, init, call),
    close: agents.close,
  }
}
