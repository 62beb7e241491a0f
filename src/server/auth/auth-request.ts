import type { IncomingMessage } from 'node:http'

/** What the door looks at of a request; a `Request` with a `remoteAddress` is one. */
export interface AuthRequest {
  readonly method: string
  readonly url: string
  readonly headers: { get(name: string): string | null }
  readonly remoteAddress?: string | undefined
}

/** The request that asks for a WebSocket, as Node hands it over. A header that came twice is seen as both. */
export function fromIncomingMessage(message: IncomingMessage): AuthRequest {
  const { method = 'GET', url = '/', headersDistinct, socket } = message
  const get = (name: string) => headersDistinct[name]?.join(name === 'cookie' ? '; ' : ', ') ?? null
  return { method, url, headers: { get }, remoteAddress: socket.remoteAddress }
}
