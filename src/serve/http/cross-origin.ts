import type { IncomingMessage, ServerResponse } from 'node:http'

const METHODS = 'GET, POST, PUT, DELETE'
const HEADERS =
  'authorization, content-type, idempotency-key, last-event-id, range, x-tool-hub-csrf, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name'
const SHOWN = 'content-range, etag, mcp-session-id, retry-after, www-authenticate'
const A_WHILE_S = '600'

/**
 * Makes what lets the pages that the owner allowed read answers; other pages never can. Cookies are not for them: such a
 * page sends a token. True when the request only asked whether it may, and is answered.
 */
export function createCrossOrigin(
  allowedOrigins: readonly string[],
): (request: IncomingMessage, response: ServerResponse) => boolean {
  const allowed = new Set(allowedOrigins)
  return ({ method, headers }, response) => {
    const { origin } = headers
    if (origin === undefined || !allowed.has(origin)) return false
    response.setHeader('access-control-allow-origin', origin)
    response.setHeader('access-control-expose-headers', SHOWN)
    response.setHeader('vary', 'origin')
    if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return false
    response.writeHead(204, {
      'access-control-allow-methods': METHODS,
      'access-control-allow-headers': HEADERS,
      'access-control-max-age': A_WHILE_S,
    })
    response.end()
    return true
  }
}
