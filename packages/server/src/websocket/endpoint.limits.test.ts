import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { gatedCounter } from '../../../../test/support/gated-counter.ts'
import { RawSocket, serveWs, type WsServed } from '../../../../test/support/ws-served.ts'
import type { ServerMessage } from '../../../core/src/protocol/messages.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'

const counter = gatedCounter()
const sockets: RawSocket[] = []

async function open(...args: Parameters<typeof RawSocket.open>) {
  const socket = await RawSocket.open(...args)
  sockets.push(socket)
  return socket
}

const call = (id: string, others: object = {}) =>
  ({ type: 'call', id, tool: 'test.increment', input: {}, ...others }) as const

afterEach(() => {
  counter.reset()
  for (const socket of sockets.splice(0)) socket.ws.close(1000)
})

describe('a WebSocket endpoint with small limits', () => {
  const clock = fakeClock()
  let small: WsServed
  beforeAll(async () => {
    const limits = { keptMessages: 4, bufferedBytes: 100_000, connections: 5 }
    small = await serveWs({ hub: { tools: [counter.tool] }, clock, limits })
  })
  afterEach(async () => {
    for (const socket of sockets.splice(0)) await socket.drop()
    while (small.endpoint.connections > 0) await new Promise(setImmediate)
  })
  afterAll(() => small.close())

  it('holds calls of a client that acknowledges nothing, and closes in the end; nothing is lost', async () => {
    const socket = await open(small.url)
    for (let n = 0; n < 7; n++) socket.say(call(String(n)))
    for (let n = 0; n < 7; n++) await socket.next('result')
    for (const id of ['7', '8']) socket.say(call(id))
    socket.say({ type: 'ping' })
    await socket.next('pong')
    expect(counter.count).toBe(7)
    await clock.advance(30_000)
    expect(await socket.closed).toBe(4408)
    const again = await open(small.url, 'ada', { session: socket.session, received: 7 })
    const results = [await again.next('result'), await again.next('result')]
    expect(results.map(({ id }) => id)).toEqual(['7', '8'])
    expect(counter.count).toBe(9)
  })

  it('drops events before anything else, and says so', async () => {
    const socket = await open(small.url)
    socket.say({ type: 'watch', events: ['policy-changed'] })
    socket.say(call('a'))
    await socket.next('result')
    await socket.drop()
    while (small.endpoint.connections > 0) await new Promise(setImmediate)
    for (let n = 0; n < 50; n++) small.events.publish({ type: 'policy-changed' })
    const again = await open(small.url, 'ada', { session: socket.session, received: 0 })
    expect(await again.next('result')).toMatchObject({ id: 'a' })
    again.say({ type: 'ping' })
    await again.next('pong')
    const events = again.inbox.map((message) => (message as Extract<ServerMessage, { type: 'event' }>).event.type)
    expect(events.filter((type) => type === 'reset')).toHaveLength(1)
    expect(events.length).toBeLessThan(6)
  })

  it('takes no more connections than it may', async () => {
    for (let n = 0; n < 5; n++) await open(small.url)
    await expect(RawSocket.open(small.url)).rejects.toThrow('503')
  })

  it('asks who is silent whether it lives, ends who does not answer, and who is not admitted any more', async () => {
    const [alive, dead, revoked] = [await open(small.url), await open(small.url), await open(small.url, 'bob')]
    // @ts-expect-error A client of the package answers pings by itself.
    dead.ws._autoPong = false
    const pinged = new Promise((resolve) => dead.ws.once('ping', resolve))
    const alivePinged = new Promise((resolve) => alive.ws.once('ping', resolve))
    await clock.advance(30_000)
    await Promise.all([pinged, alivePinged])
    alive.say({ type: 'ping' })
    await alive.next('pong')
    small.revoked.add('bob')
    await clock.advance(35_000)
    expect(await dead.closed).toBe(1006)
    expect(await revoked.closed).toBe(4401)
    small.revoked.clear()
    alive.say({ type: 'ping' })
    await alive.next('pong')
  })

  it('forgets a session after two minutes', async () => {
    counter.shut()
    const socket = await open(small.url)
    socket.say(call('a'))
    await counter.reached(1)
    await socket.drop()
    while (small.endpoint.connections > 0) await new Promise(setImmediate)
    await clock.advance(121_000)
    const again = await open(small.url, 'ada', { session: socket.session, received: 0 })
    expect(again.welcome.resumed).toBe(false)
  })
})

describe('a principal with many connections', () => {
  const clock = fakeClock()
  let shared: WsServed
  beforeAll(async () => {
    const limits = { connectionsEach: 3, waitingSessions: 2 }
    shared = await serveWs({ hub: { tools: [counter.tool] }, clock, limits, rate: { perSecond: 10, burst: 5 } })
  })
  afterEach(async () => {
    for (const socket of sockets.splice(0)) await socket.drop()
    while (shared.endpoint.connections > 0) await new Promise(setImmediate)
    await clock.advance(1_000)
  })
  afterAll(() => shared.close())

  it('has one rate for all of them, and for what it asks over HTTP', async () => {
    const [one, two] = [await open(shared.url), await open(shared.url)]
    for (const id of ['a', 'b']) one.say(call(id))
    for (const id of ['c', 'd']) two.say(call(id))
    for (const socket of [one, one, two, two]) await socket.next('result')
    expect(shared.rates.take('token:ada')).toBe(0)
    for (const socket of [one, two]) {
      socket.say(call('e'))
      expect(await socket.next('error')).toMatchObject({ id: 'e', error: { code: 'RATE_LIMITED', retryable: true } })
    }
    const bob = await open(shared.url, 'bob')
    bob.say(call('a'))
    await bob.next('result')
    await clock.advance(100)
    one.say(call('f'))
    await one.next('result')
  })

  it('has no more of them than it may, and leaves room for others', async () => {
    const mine = [await open(shared.url), await open(shared.url), await open(shared.url)]
    await expect(RawSocket.open(shared.url)).rejects.toThrow('429')
    await open(shared.url, 'bob')
    await mine[0]!.drop()
    while (shared.endpoint.connections > 3) await new Promise(setImmediate)
    await open(shared.url)
  })

  it('leaves only so many sessions behind at the same time: the ones it left first are over', async () => {
    counter.shut()
    const left: string[] = []
    for (const id of ['a', 'b', 'c']) {
      const socket = await open(shared.url)
      socket.say(call(id))
      await counter.reached(left.length + 1)
      left.push(socket.session)
      await socket.drop()
      while (shared.endpoint.connections > 0) await new Promise(setImmediate)
    }
    const resumed: boolean[] = []
    for (const session of left) resumed.push((await open(shared.url, 'ada', { session, received: 0 })).welcome.resumed)
    expect(resumed).toEqual([false, true, true])
    counter.release()
  })
})

describe('a reader that is slow', () => {
  const clock = fakeClock()
  let slow: WsServed
  beforeAll(async () => {
    slow = await serveWs({
      hub: { tools: [counter.tool] },
      clock,
      limits: { keptBytes: 24_000_000, bufferedBytes: 100_000 },
    })
  })
  afterAll(() => slow.close())

  /** More than the machine takes for one who does not read. */
  function publishMuch(): void {
    const approval = { id: 'x', caller: 'token:bob', mayAnswer: true, input: 'x'.repeat(1_000_000) } as never
    for (let n = 0; n < 40; n++) slow.events.publish({ type: 'approval', approval })
  }

  it('misses events and is notified, but misses no result; after a while it has to come again', async () => {
    const socket = await open(slow.url)
    socket.say({ type: 'watch', events: ['approval'] })
    socket.say({ type: 'ping' })
    await socket.next('pong')
    socket.ws.pause()
    publishMuch()
    socket.say(call('a'))
    await counter.reached(1)
    socket.ws.resume()
    const result = await socket.next('result')
    const events = socket.inbox.filter((message) => message.type === 'event').map(({ event }) => event.type)
    expect(events.filter((type) => type === 'reset')).toHaveLength(1)
    expect(events.length).toBeLessThan(40)
    socket.say({ type: 'received', seq: result.seq })
    socket.say({ type: 'ping' })
    await socket.next('pong')
    socket.ws.pause()
    publishMuch()
    socket.say(call('b'))
    await counter.reached(2)
    await clock.advance(30_000)
    socket.ws.resume()
    expect(await socket.closed).toBe(4408)
    const again = await open(slow.url, 'ada', { session: socket.session, received: result.seq })
    expect(await again.next('result')).toMatchObject({ id: 'b', result: { ok: true } })
    expect(counter.count).toBe(2)
  })
})

describe('closing the endpoint', () => {
  it('lets calls end, takes no more, and says that the server stops', async () => {
    const closing = await serveWs({ hub: { tools: [counter.tool] } })
    counter.shut()
    const socket = await open(closing.url)
    socket.say(call('a'))
    await counter.reached(1)
    const closed = closing.endpoint.close({ graceMs: 5_000 })
    socket.say(call('b'))
    socket.say({ type: 'ping' })
    await socket.next('pong')
    counter.release()
    expect(await socket.next('result')).toMatchObject({ id: 'a', result: { ok: true } })
    expect(await socket.closed).toBe(1001)
    await closed
    expect(counter.count).toBe(1)
    await expect(RawSocket.open(closing.url)).rejects.toThrow('503')
    await closing.close()
  })
})
