import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { joinSockets } from './open-tunnel.ts'

async function listen(options: { readonly allowHalfOpen?: boolean }): Promise<Server> {
  const server = createServer(options).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return server
}

const portOf = (server: Server) => (server.address() as AddressInfo).port

it('still carries the answer when the one who asked has ended', async () => {
  const [middle, far] = await Promise.all([listen({}), listen({ allowHalfOpen: true })])
  far.on('connection', (socket: Socket) => {
    let asked = ''
    socket.on('data', (bytes) => {
      asked += bytes
    })
    socket.on('end', () => socket.end(`answer to ${asked}`))
  })
  let carried = 0
  middle.on('connection', (near: Socket) => {
    const other = connect(portOf(far), '127.0.0.1')
    joinSockets(near, other, 60_000, (bytes) => {
      carried += bytes
    })
  })
  const client = connect({ port: portOf(middle), host: '127.0.0.1', allowHalfOpen: true })
  onTestFinished(() => void client.destroy())
  client.end('question')
  let answer = ''
  for await (const bytes of client) answer += bytes
  expect(answer).toBe('answer to question')
  expect(carried).toBe('question'.length + answer.length)
})
