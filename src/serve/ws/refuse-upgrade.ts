import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { ToolError } from '../../errors.ts'

/** Says no to a request for a WebSocket, in HTTP, and ends the connection. */
export function refuseUpgrade(
  socket: Duplex,
  status: number,
  { code, message, retryable, fix }: ToolError,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (socket.destroyed) return
  const body = JSON.stringify({ error: { code, message, retryable, fix } })
  const lines = {
    connection: 'close',
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...headers,
  }
  const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Refused'}\r\n${head.join('')}\r\n${body}`, () =>
    socket.destroy(),
  )
}
