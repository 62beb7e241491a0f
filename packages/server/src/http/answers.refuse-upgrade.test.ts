import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { ToolError } from '@tool-hub/core/errors'
import { expect, it } from 'vitest'
import { refuseUpgrade } from './answers.ts'

/** All that a client gets who asks for a WebSocket and is refused. */
async function refusedWith(...refusal: [number, ToolError, Record<string, string>?]): Promise<string> {
  const server = createServer()
  server.on('upgrade', (_, socket) => refuseUpgrade(socket, ...refusal))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n')
  let text = ''
  for await (const chunk of socket.setEncoding('utf8')) text += chunk
  await new Promise((resolve) => server.close(resolve))
  return text
}

it('answers in HTTP with the error, its headers and its length in bytes, and ends the connection', async () => {
  const error = new ToolError('RATE_LIMITED', 'Too many – wait.', { hint: 'Wait.', details: { hidden: 1 } })
  const body = '{"error":{"code":"RATE_LIMITED","message":"Too many – wait.","retryable":true,"fix":{"hint":"Wait."}}}'
  const head = [
    'HTTP/1.1 429 Too Many Requests',
    'connection: close',
    'content-type: application/json',
    `content-length: ${body.length + 2}`,
    'retry-after: 3',
  ]
  expect(await refusedWith(429, error, { 'retry-after': '3' })).toBe(`${head.join('\r\n')}\r\n\r\n${body}`)
})

it('has words for a status without a name', async () => {
  expect(await refusedWith(499, new ToolError('NOT_FOUND', 'None.'))).toMatch(/^HTTP\/1\.1 499 Refused\r\n/)
})
