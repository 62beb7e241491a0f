import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, it } from 'vitest'
import { type AuthRequest, fromIncomingMessage } from './auth-request.ts'
import { createOriginCheck } from './authenticator.ts'

it('sees of a request for a WebSocket what came, also what came twice', async () => {
  const server = createServer()
  const asked = new Promise<AuthRequest>((resolve) => {
    server.on('upgrade', (message, socket) => {
      resolve(fromIncomingMessage(message))
      socket.destroy()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const own = 'Host: localhost\r\nOrigin: http://localhost\r\nOrigin: https://evil.example'
  socket.write(
    `GET /v1/ws HTTP/1.1\r\n${own}\r\nCookie: a=1\r\nCookie: b=2\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n`,
  )
  const request = await asked
  await new Promise((resolve) => server.close(resolve))
  expect(request).toMatchObject({ method: 'GET', url: '/v1/ws', remoteAddress: '127.0.0.1' })
  expect(request.headers.get('upgrade')).toBe('websocket')
  expect(request.headers.get('cookie')).toBe('a=1; b=2')
  expect(request.headers.get('authorization')).toBeNull()
  expect(createOriginCheck({})(request)).toMatchObject({ status: 403 })
})
