import type { IncomingMessage } from 'node:http'

/** What both sides speak. */
export const SUBPROTOCOL = 'tool-hub.v1'

const BEARER = 'bearer.'

/**
 * A browser cannot set headers of a WebSocket, and a token in a URL ends up in logs, so it may come as a subprotocol:
 * `tool-hub.v1, bearer.<token>`. It is made the Authorization header, unless there is one, and not kept.
 */
export function presentToken({ headers, headersDistinct }: IncomingMessage): void {
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((protocol) => protocol.trim())
  const bearer = offered.find((protocol) => protocol.startsWith(BEARER))
  if (bearer === undefined) return
  const others = offered.filter((protocol) => !protocol.startsWith(BEARER))
  if (others.length > 0) headers['sec-websocket-protocol'] = others.join(', ')
  else delete headers['sec-websocket-protocol']
  if (headers.authorization !== undefined) return
  headers.authorization = `Bearer ${bearer.slice(BEARER.length)}`
  headersDistinct.authorization = [headers.authorization]
}
