import type { IncomingMessage } from 'node:http'

// They are between two neighbours (RFC 9110, 7.6.1), or say how long a body is: the next message says that anew.
const HOP_BY_HOP = /^(connection|keep-alive|te|trailer|transfer-encoding|upgrade|http2-settings|expect|content-length)$/
const PROXY_ONLY = /^proxy-/

/** The headers of a message that are meant for the other end, as a flat list; its framing and Host are not in it. */
export function endToEndHeaders({ rawHeaders, headers }: Pick<IncomingMessage, 'rawHeaders' | 'headers'>): string[] {
  const named = new Set((headers.connection ?? '').toLowerCase().split(/[\s,]+/))
  const kept: string[] = []
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase()
    if (name === 'host' || HOP_BY_HOP.test(name) || PROXY_ONLY.test(name) || named.has(name)) continue
    kept.push(rawHeaders[at]!, rawHeaders[at + 1]!)
  }
  return kept
}

/** How long the body of a message is, in headers; a request that says nothing has none. */
export function framing(message: IncomingMessage, direction: 'request' | 'response'): string[] {
  const { 'transfer-encoding': coding, 'content-length': length } = message.headers
  if (coding !== undefined) return direction === 'request' ? ['Transfer-Encoding', 'chunked'] : []
  if (length !== undefined) return ['Content-Length', length]
  // Without it Node would send a body of unknown length.
  return direction === 'request' && /^(POST|PUT|PATCH)$/.test(message.method!) ? ['Content-Length', '0'] : []
}
