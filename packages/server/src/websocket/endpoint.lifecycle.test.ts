import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { gatedCounter } from '../../../../test/support/gated-counter.ts'
import { RawSocket, serveWs, type WsServed } from '../../../../test/support/ws-served.ts'
import type { Clock } from '../../../core/src/context.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import type { Identity } from '../auth/authenticator.ts'
import { createWebSocketEndpoint, type WebSocketEndpointOptions } from './endpoint.ts'

const counter = gatedCounter()
const closers: (() => unknown)[] = []

afterEach(async () => {
  counter.reset()
  for (const close of closers.splice(0).reverse()) await close()
})

async function serve(options: Parameters<typeof serveWs>[0] = {}): Promise<WsServed> {
  const served = await serveWs({ hub: { tools: [counter.tool] }, ...options })
  closers.push(() => served.close())
  return served
}

/** An endpoint whose callers the test decides. */
async function serveAdmitting(
  admit: WebSocketEndpointOptions['authenticate'],
  options: Partial<WebSocketEndpointOptions> = {},
) {
  const events = { publish: () => {}, subscribe: () => () => {} }
  const endpoint = createWebSocketEndpoint({
    service: { events, approvals: {} } as never,
    authenticate: admit,
    ...options,
  })
  const server = createServer()
  server.on('upgrade', (request, socket, head) => endpoint.upgrade(request, socket, head))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closers.push(async () => {
    await endpoint.close()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return { endpoint, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const caller = { name: 'token:ada', scopes: new Set(['read']), hub: {} } as unknown as Identity['caller']
const admission = (others: Partial<Identity> = {}): Identity => ({
  ok: true,
  caller,
  holds: () => true,
  take: () => 0,
  credential: () => undefined,
  ...others,
})

/** Everything that was said before was handled, and the connection is open. */
async function roundTrip(socket: RawSocket): Promise<void> {
  socket.say({ type: 'ping' })
  await socket.next('pong')
}

async function watching(url: string, token?: string) {
  const socket = await RawSocket.open(url, token)
  socket.say({ type: 'watch', events: ['tools-changed'] })
  await roundTrip(socket)
  return socket
}

/** Status and error of a refused request. */
async function refusal(url: string, token = 'ada') {
  const [, response] = (await once(new RawSocket(url, token).ws, 'unexpected-response')) as [unknown, IncomingMessage]
  return { status: response.statusCode, ...JSON.parse(await text(response)).error }
}

describe('who is refused a WebSocket', () => {
  it('learns why: another path, too many in all, too many of one principal', async () => {
    const { url } = await serve({ limits: { connections: 2, connectionsEach: 1 } })
    expect(await refusal(`${url}/other`)).toMatchObject({
      status: 404,
      code: 'NOT_FOUND',
      message: 'WebSockets are at /v1/ws.',
    })
    await RawSocket.open(url)
    const hint = 'Try again later, or close some.'
    expect(await refusal(url)).toMatchObject({
      status: 429,
      code: 'RATE_LIMITED',
      message: 'token:ada has 1 connections, which is the limit.',
      fix: { hint },
    })
    await RawSocket.open(url, 'bob')
    expect(await refusal(url, 'eve')).toMatchObject({
      status: 503,
      code: 'RATE_LIMITED',
      message: 'There are 2 connections, which is the limit.',
      fix: { hint },
    })
  })

  it('is notified that the service closes, before and after it is known who it is', async () => {
    const asked: ((value: Identity) => void)[] = []
    const { endpoint, url } = await serveAdmitting(() => new Promise<Identity>((resolve) => asked.push(resolve)))
    const first = refusal(url)
    while (asked.length === 0) await new Promise(setImmediate)
    await endpoint.close()
    const stopping = {
      status: 503,
      code: 'ABORTED',
      message: 'The service is closing.',
      retryable: true,
      fix: { hint: 'Try again in a moment.' },
    }
    expect(await refusal(url)).toEqual(stopping)
    asked[0]!(admission())
    expect(await first).toEqual(stopping)
  })

  it('gets an error that it could not be checked, and the owner is warned', async () => {
    const { url } = await serveAdmitting(() => {
      throw new Error('the disk is full')
    })
    const warned = once(process, 'warning')
    expect(await refusal(url)).toMatchObject({
      status: 500,
      code: 'INTERNAL',
      message: 'Who this is could not be checked.',
    })
    expect((await warned)[0]).toMatchObject({
      name: 'ToolHubWarning',
      message: 'A WebSocket could not be admitted: the disk is full',
    })
  })

  it('has had its place taken by one whose token is being checked', async () => {
    const asked: ((value: Identity) => void)[] = []
    const admit = () => new Promise<Identity>((resolve) => asked.push(resolve))
    const { url } = await serveAdmitting(admit, { limits: { connections: 1 } })
    const first = RawSocket.open(url)
    while (asked.length === 0) await new Promise(setImmediate)
    expect(await refusal(url)).toMatchObject({ status: 503 })
    asked[0]!(admission())
    const socket = await first
    await roundTrip(socket)
    socket.ws.close(1000)
    await socket.closed
  })
})

describe('the handshake', () => {
  it('finds the path before a query, compresses nothing, and agrees only to what was offered', async () => {
    const { url } = await serve()
    const socket = await RawSocket.open(url)
    expect([socket.ws.protocol, socket.ws.extensions]).toEqual(['tool-hub.v1', ''])
    const other = new RawSocket(url, 'ada', ['other'])
    const [response] = (await once(other.ws, 'upgrade')) as [IncomingMessage]
    expect(response.headers['sec-websocket-protocol']).toBeUndefined()
    await other.closed
    const queried = new WebSocket(`${url.replace('http', 'ws')}/v1/ws?x=1`, ['tool-hub.v1', 'bearer.ada'])
    await once(queried, 'open')
    queried.terminate()
  })
})

describe('a message', () => {
  it('has so many bytes, and is valid UTF-8', async () => {
    const { url } = await serve({ limits: { messageBytes: 100 } })
    const socket = await RawSocket.open(url)
    socket.say(`{"type":"ping"}${' '.repeat(85)}`)
    await socket.next('pong')
    socket.say(`{"type":"ping"}${' '.repeat(86)}`)
    expect(await socket.closed).toBe(1009)
    const broken = await RawSocket.open(url)
    broken.ws.send(Buffer.from([0xff]), { binary: false })
    expect(await broken.closed).toBe(1007)
  })

  it('has so many entries, and so many are not understood', async () => {
    const { url } = await serve({ limits: { messageEntries: 100, badMessages: 3 } })
    const socket = await RawSocket.open(url)
    socket.say({ type: 'call', id: 'a', tool: 'x', input: Array(6_000).fill(1) })
    expect(await socket.next('error')).toMatchObject({ id: 'a' })
    socket.say({ type: 'hello' })
    expect((await socket.next('error')).error).toMatchObject({
      code: 'INPUT_SCHEMA_INVALID',
      message: 'This connection has said hello already.',
      hint: 'Say { "type": "hello" } once, at the beginning.',
    })
    await roundTrip(socket)
    socket.say('{')
    expect(await socket.closed).toBe(4400)
  })
})

describe('a connection that is silent', () => {
  it('is asked, again and again, as long as it answers; then it is cut off', async () => {
    const clock = fakeClock()
    const { url } = await serve({ clock, limits: { silenceMs: 10_000 } })
    const socket = await watching(url)
    for (const _ of [1, 2]) {
      const pinged = once(socket.ws, 'ping')
      await clock.advance(10_000)
      await pinged
      await roundTrip(socket)
    }
    // @ts-expect-error A client of the package answers pings by itself.
    socket.ws._autoPong = false
    const pinged = once(socket.ws, 'ping')
    await clock.advance(10_000)
    await pinged
    await clock.advance(10_000)
    expect(await socket.closed).toBe(1006)
  })

  it('is closed when it has not said hello', async () => {
    const clock = fakeClock()
    const { url } = await serve({ clock, limits: { silenceMs: 10_000 } })
    const socket = new RawSocket(url, 'ada')
    await once(socket.ws, 'open')
    await clock.advance(9_999)
    expect(socket.ws.readyState).toBe(socket.ws.OPEN)
    await clock.advance(1)
    expect(await socket.closed).toBe(4400)
  })
})

describe('who is admitted no longer', () => {
  it('has to go within five seconds, with its session', async () => {
    const clock = fakeClock()
    const { url, revoked } = await serve({ clock })
    const [ada, bob] = [await watching(url), await watching(url, 'bob')]
    revoked.add('bob')
    await clock.advance(4_999)
    await roundTrip(bob)
    await clock.advance(1)
    expect(await bob.closed).toBe(4401)
    revoked.clear()
    await roundTrip(ada)
    const again = await RawSocket.open(url, 'bob', { session: bob.session })
    expect(again.welcome.resumed).toBe(false)
  })

  it('has to go when that cannot be checked, and may go on with its session', async () => {
    const clock = fakeClock()
    const holds = async () => {
      throw new Error('the disk is full')
    }
    const { url } = await serveAdmitting(() => admission({ holds }), { clock })
    const socket = await watching(url)
    await clock.advance(5_000)
    expect(await socket.closed).toBe(4401)
    const again = await RawSocket.open(url, 'ada', { session: socket.session })
    expect(again.welcome.resumed).toBe(true)
    again.ws.close(1000)
    await again.closed
  })

  it('is dismissed, connected or not, and nobody else', async () => {
    const { url, endpoint } = await serve()
    const [ada, bob, left] = [await watching(url), await watching(url, 'bob'), await watching(url, 'bob')]
    await left.drop()
    while (endpoint.connections > 2) await new Promise(setImmediate)
    endpoint.dismiss(({ name }) => name === 'token:bob')
    expect(await bob.closed).toBe(4401)
    await roundTrip(ada)
    for (const { session } of [bob, left])
      expect((await RawSocket.open(url, 'bob', { session })).welcome.resumed).toBe(false)
  })
})

it('a session ends with a goodbye', async () => {
  const { url } = await serve()
  const socket = await watching(url)
  socket.ws.close(1000)
  await socket.closed
  expect((await RawSocket.open(url, 'ada', { session: socket.session })).welcome.resumed).toBe(false)
})

describe('closing', () => {
  const call = { type: 'call', id: 'a', tool: 'test.increment', input: {} } as const

  it('waits for no call by default, and leaves no timer', async () => {
    const clock = fakeClock()
    const { url, endpoint } = await serve({ clock })
    const socket = await RawSocket.open(url)
    counter.shut()
    socket.say(call)
    await counter.reached(1)
    const closed = endpoint.close()
    await clock.advance(0)
    expect(await socket.closed).toBe(1001)
    await closed
    expect([endpoint.connections, clock.waiting]).toEqual([0, 0])
  })

  it('waits for calls as long as configured', async () => {
    const clock = fakeClock()
    const { url, endpoint } = await serve({ clock })
    const socket = await RawSocket.open(url)
    counter.shut()
    socket.say(call)
    await counter.reached(1)
    const closed = endpoint.close({ graceMs: 100 })
    await clock.advance(99)
    await roundTrip(socket)
    await clock.advance(1)
    expect(await socket.closed).toBe(1001)
    await closed
  })

  it('cuts off who does not answer within a second', async () => {
    const clock = fakeClock()
    const { url, endpoint } = await serve({ clock })
    const socket = await RawSocket.open(url)
    socket.ws.pause()
    let isClosed = false
    const closed = endpoint.close().then(() => (isClosed = true))
    await clock.advance(0)
    await clock.advance(999)
    expect(isClosed).toBe(false)
    await clock.advance(1)
    await closed
    while (endpoint.connections > 0) await new Promise(setImmediate)
    socket.ws.resume()
    await socket.closed
  })
})

it('timers wait in the background, and none is left when nobody is', async () => {
  const clock = fakeClock()
  const background: (boolean | undefined)[] = []
  const noting: Clock = {
    now: clock.now,
    after(ms, callback, options) {
      background.push(options?.background)
      return clock.after(ms, callback)
    },
  }
  const { url, endpoint } = await serve({ clock: noting, limits: { keptMessages: 0 } })
  const socket = await RawSocket.open(url)
  socket.say({ type: 'call', id: 'a', tool: 'test.increment', input: {} })
  await socket.next('result')
  await clock.advance(5_000)
  expect(background).toEqual([true, true, true])
  socket.ws.close(1000)
  while (endpoint.connections > 0) await new Promise(setImmediate)
  await clock.advance(5_000)
  expect(clock.waiting).toBe(0)
})
