import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { ToolError } from '@tool-hub/core'

/** The part of a request that authentication uses; a `Request` with a `remoteAddress` is one. */
export interface AuthRequest {
  readonly method: string
  readonly url: string
  readonly headers: { get(name: string): string | null }
  readonly remoteAddress?: string | undefined
}

/** Wraps the upgrade request of a WebSocket. Repeated headers are joined. */
export function fromIncomingMessage(message: IncomingMessage): AuthRequest {
  const { method = 'GET', url = '/', headersDistinct, socket } = message
  const get = (name: string) => headersDistinct[name]?.join(name === 'cookie' ? '; ' : ', ') ?? null
  return { method, url, headers: { get }, remoteAddress: socket.remoteAddress }
}

/** A refused request, and the response to it. */
export interface Refusal {
  readonly ok: false
  readonly status: 401 | 403 | 429 | 503
  readonly error: ToolError
  readonly headers: Readonly<Record<string, string>>
}

/** 401: the caller is unknown. `invalid` if the request had a token that is not valid. */
export function unauthenticated(
  message: string,
  { invalid = false, hint }: { invalid?: boolean; hint?: string } = {},
): Refusal {
  const challenge = `Bearer realm="tool-hub"${invalid ? ', error="invalid_token"' : ''}`
  const error = new ToolError('UNAUTHENTICATED', message, hint === undefined ? {} : { hint })
  return { ok: false, status: 401, error, headers: { 'www-authenticate': challenge } }
}

/** 403: the caller or the origin is not allowed. */
export function forbidden(message: string, hint: string): Refusal {
  return { ok: false, status: 403, error: new ToolError('FORBIDDEN', message, { hint }), headers: {} }
}

/** 429: too many requests, with the time to wait. */
export function tooOften(message: string, waitMs: number): Refusal {
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000))
  const error = new ToolError('RATE_LIMITED', `${message}; wait ${waitMs} ms.`, { details: { retryAfterMs: waitMs } })
  return { ok: false, status: 429, error, headers: { 'retry-after': String(seconds) } }
}

/** Converts a FORBIDDEN or UPSTREAM_ERROR to a refusal; rethrows any other error. */
export function refusalOf(thrown: unknown): Refusal {
  if (ToolError.is(thrown) && thrown.code === 'FORBIDDEN') return { ok: false, status: 403, error: thrown, headers: {} }
  if (ToolError.is(thrown) && thrown.code === 'UPSTREAM_ERROR')
    return { ok: false, status: 503, error: thrown, headers: { 'retry-after': '5' } }
  throw thrown
}

const CIDR = /^([^/]+)(?:\/(\d{1,3}))?$/
const WITH_PORT = /^\[([0-9a-f:.]+)\](?::\d{1,5})?$|^(\d+\.\d+\.\d+\.\d+):\d{1,5}$/i

/**
 * Returns a function that finds the address of a client: the peer, or behind trusted proxies the address they report.
 * Clients can forge X-Forwarded-For, so it is read from its end, where our own proxy appends.
 */
export function createAddressOf(trustedProxies: readonly string[] = []): (request: AuthRequest) => string | undefined {
  if (trustedProxies.length === 0) return ({ remoteAddress }) => remoteAddress
  const trusted = new BlockList()
  for (const written of trustedProxies) trust(trusted, written)
  const isTrusted = (address: string) => isIP(address) !== 0 && trusted.check(address, familyOf(address))
  return ({ remoteAddress, headers }) => {
    let address = remoteAddress
    const forwarded = (headers.get('x-forwarded-for') ?? '').split(',')
    while (address !== undefined && forwarded.length > 0 && isTrusted(address)) {
      const before = toAddress(forwarded.pop()!.trim())
      if (before === undefined) break
      address = before
    }
    return address
  }
}

function toAddress(said: string): string | undefined {
  const [, six, four] = WITH_PORT.exec(said) ?? []
  const address = six ?? four ?? said
  return isIP(address) === 0 ? undefined : address
}

function trust(trusted: BlockList, written: string): void {
  const [, address = '', bits] = CIDR.exec(written) ?? []
  const most = isIP(address) === 6 ? 128 : 32
  const length = bits === undefined ? most : Number(bits)
  if (isIP(address) === 0 || length > most) {
    throw new ToolError('CONFIG_INVALID', `trustedProxies: ${JSON.stringify(written)} is not an address.`, {
      hint: 'Write an address or a network: 10.0.0.7, 10.0.0.0/8, 2001:db8::/32.',
    })
  }
  trusted.addSubnet(address, length, familyOf(address))
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}
