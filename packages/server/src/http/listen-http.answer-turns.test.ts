import { connect, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { HttpApp } from './create-http-app.ts'
import { type HttpServer, type ListenOptions, listenHttp } from './listen-http.ts'

const GET = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'
/** More than the machine takes for one who does not read. */
const LARGE = Buffer.alloc(24_000_000, 'x')
const servers: HttpServer[] = []
const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await Promise.all(servers.splice(0).map((server) => server.close()))
})

/** A server whose answers are made by the test. */
async function listen(answer: (index: number) => Promise<string | Buffer>, options: ListenOptions = {}) {
  const asked = { count: 0, sockets: [] as Socket[], ended: [] as Promise<void>[] }
  const listener: HttpApp['listener'] = async ({ socket }, response) => {
    asked.sockets.push(socket)
    asked.ended.push(new Promise((resolve) => response.once('close', () => resolve())))
    const body = await answer(asked.count++)
    response.writeHead(200, { 'content-length': Buffer.byteLength(body) })
    response.end(body)
  }
  const app = { listener, refuseHead: () => undefined, report: () => {}, close: async () => {} } as unknown as HttpApp
  const server = await listenHttp(app, { graceMs: 0, ...options })
  servers.push(server)
  return { asked, port: server.port }
}

function open(port: number, bytes: string, { reads = true } = {}) {
  const socket = connect(port, '127.0.0.1')
  sockets.push(socket)
  let said = ''
  if (reads) socket.on('data', (chunk) => (said += chunk))
  else socket.pause()
  socket.on('error', () => {})
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()))
  socket.write(bytes)
  return { socket, closed, said: () => said }
}

const nextTurn = () => new Promise(setImmediate)

describe('the requests of one connection', () => {
  it('are answered in order, one after the other', async () => {
    let underWay = 0
    let most = 0
    const { port } = await listen(async (index) => {
      most = Math.max(most, ++underWay)
      await nextTurn()
      underWay--
      return `answer ${index};`
    })
    const client = open(port, GET.repeat(20))
    await expect.poll(() => client.said()).toContain('answer 19;')
    const answers = client.said().match(/answer \d+;/g)
    expect(answers).toEqual(Array.from({ length: 20 }, (_, index) => `answer ${index};`))
    expect(most).toBe(1)
  })

  it('wait no longer when it is gone', async () => {
    let release = () => {}
    const { port, asked } = await listen(() => new Promise((resolve) => (release = () => resolve('late'))))
    const client = open(port, GET.repeat(5))
    await expect.poll(() => asked.count).toBe(1)
    client.socket.destroy()
    await client.closed
    await nextTurn()
    release()
    for (let turn = 0; turn < 10; turn++) await nextTurn()
    expect(asked.count).toBe(1)
  })

  it('are cut off when too many run concurrently', async () => {
    const { port, asked } = await listen(() => new Promise(() => {}))
    await open(port, GET.repeat(200)).closed
    expect(asked.count).toBe(1)
  })
})

describe('a reader that is slow', () => {
  it('is cut off when it takes nothing of its answer for a while, and gets no more answers until then', async () => {
    const { port, asked } = await listen(async () => LARGE, { drainMs: 100 })
    const client = open(port, GET.repeat(10), { reads: false })
    await expect.poll(() => asked.count).toBe(1)
    await asked.ended[0]
    // A paused client learns of the end only when it reads.
    client.socket.on('data', () => {}).resume()
    await client.closed
    expect(asked.count).toBe(1)
    expect(client.socket.bytesRead).toBeLessThan(LARGE.length)
  })

  it('is not one who waits for an answer that takes longer', async () => {
    let release = () => {}
    const { port, asked } = await listen(() => new Promise((resolve) => (release = () => resolve('late'))), {
      drainMs: 50,
    })
    const client = open(port, GET)
    await expect.poll(() => asked.count).toBe(1)
    await new Promise((resolve) => asked.sockets[0]!.once('timeout', resolve))
    release()
    await expect.poll(() => client.said()).toContain('late')
  })

  it('is cut off sooner when all together keep too much waiting, those with most first', async () => {
    const { port, asked } = await listen(async (index) => (index === 0 ? Buffer.alloc(20_000_000) : LARGE), {
      maxUnreadBytes: 30_000_000,
      unreadCheckMs: 20,
    })
    const less = open(port, GET, { reads: false })
    await expect.poll(() => asked.count).toBe(1)
    const more = open(port, GET, { reads: false })
    await expect.poll(() => asked.count).toBe(2)
    await asked.ended[1]
    for (const { socket } of [less, more]) socket.on('data', () => {}).resume()
    await more.closed
    await expect.poll(() => less.socket.bytesRead).toBeGreaterThan(20_000_000)
  })
})
