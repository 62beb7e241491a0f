import { afterEach, describe, expect, it } from 'vitest'
import { gatedCounter } from '../../../../test/support/gated-counter.ts'
import { RawSocket, serveWs, type WsServed } from '../../../../test/support/ws-served.ts'
import type { ClientMessage } from '../../../core/src/protocol/messages.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'

const counter = gatedCounter()
let served: WsServed | undefined

afterEach(async () => {
  counter.reset()
  await served?.close()
  served = undefined
})

async function serve(options: Parameters<typeof serveWs>[0] = {}) {
  served = await serveWs({ hub: { tools: [counter.tool] }, ...options })
  return served
}

const call = (id: string) => ({ type: 'call', id, tool: 'test.increment', input: {} }) as const
const toolsOf = (name: string) => ({
  type: 'tools' as const,
  name: 'editor',
  tools: [{ name, description: 'Open.', input: { type: 'object', properties: {} } }],
})

/** Everything that was said before was handled, and the connection is open. */
async function roundTrip(socket: RawSocket): Promise<void> {
  socket.say({ type: 'ping' })
  await socket.next('pong')
}

describe('a client that acknowledges', () => {
  it('gets what was held, and is not taken for slow', async () => {
    const clock = fakeClock()
    const { url } = await serve({ clock, limits: { keptMessages: 2 } })
    const socket = await RawSocket.open(url)
    for (const id of ['a', 'b', 'c']) socket.say(call(id))
    for (const _ of ['a', 'b', 'c']) await socket.next('result')
    socket.say(call('d'))
    await roundTrip(socket)
    expect(counter.count).toBe(3)
    socket.say({ type: 'received', seq: 3 })
    expect(await socket.next('result')).toMatchObject({ id: 'd', seq: 4 })
    await clock.advance(29_999)
    await roundTrip(socket)
    await clock.advance(1)
    await roundTrip(socket)
  })

  it('is closed 30 seconds after it has not read or acknowledged enough', async () => {
    const clock = fakeClock()
    const { url } = await serve({ clock, limits: { keptMessages: 2 } })
    const socket = await RawSocket.open(url)
    for (const id of ['a', 'b', 'c']) socket.say(call(id))
    for (const _ of ['a', 'b', 'c']) await socket.next('result')
    await clock.advance(29_999)
    await roundTrip(socket)
    await clock.advance(1)
    expect(await socket.closed).toBe(4408)
  })

  it('registers tools when it has caught up, and not before', async () => {
    const { url } = await serve({ limits: { keptMessages: 2 } })
    const socket = await RawSocket.open(url)
    for (const id of ['a', 'b', 'c']) socket.say(call(id))
    for (const _ of ['a', 'b', 'c']) await socket.next('result')
    socket.say(toolsOf('editor_open'))
    expect(await socket.next('error')).toMatchObject({
      id: 'editor',
      error: { code: 'RATE_LIMITED', message: 'Acknowledge what came before.' },
    })
    socket.say({ type: 'received', seq: 3 })
    socket.say(toolsOf('editor_open'))
    expect(await socket.next('done')).toMatchObject({ id: 'editor', seq: 4, outcome: { tools: ['editor_open'] } })
    socket.say({ ...toolsOf('editor_open'), id: 'mine' })
    expect(await socket.next('done')).toMatchObject({ id: 'mine' })
  })
})

describe('a session whose connection drops', () => {
  const nothing = async () => {}
  it.each<[string, (socket: RawSocket) => Promise<unknown>, boolean]>([
    ['nothing', nothing, false],
    [
      'a result that was acknowledged',
      async (socket) => {
        socket.say(call('a'))
        socket.say({ type: 'received', seq: (await socket.next('result')).seq })
        await roundTrip(socket)
      },
      false,
    ],
    [
      'a result that was not acknowledged',
      (socket) => {
        socket.say(call('a'))
        return socket.next('result')
      },
      true,
    ],
    [
      'a call under way',
      (socket) => {
        counter.shut()
        socket.say(call('a'))
        return counter.reached(1)
      },
      true,
    ],
    [
      'tools',
      async (socket) => {
        socket.say(toolsOf('editor_open'))
        socket.say({ type: 'received', seq: (await socket.next('done')).seq })
        await roundTrip(socket)
      },
      true,
    ],
    [
      'events to watch',
      (socket) => {
        socket.say({ type: 'watch', events: ['tools-changed'] })
        return roundTrip(socket)
      },
      true,
    ],
    [
      'no more events to watch',
      (socket) => {
        socket.say({ type: 'watch', events: ['tools-changed'] })
        socket.say({ type: 'watch', events: [] })
        return roundTrip(socket)
      },
      false,
    ],
  ])('with %s is kept: %s', async (_, prepare, isKept) => {
    const { url, endpoint } = await serve()
    const socket = await RawSocket.open(url)
    await prepare(socket)
    await socket.drop()
    while (endpoint.connections > 0) await new Promise(setImmediate)
    const again = await RawSocket.open(url, 'ada', { session: socket.session })
    expect(again.welcome.resumed).toBe(isKept)
  })

  it('sends everything again to who does not say what it received', async () => {
    const { url, endpoint } = await serve()
    const socket = await RawSocket.open(url)
    socket.say(call('a'))
    const result = await socket.next('result')
    await socket.drop()
    while (endpoint.connections > 0) await new Promise(setImmediate)
    const again = await RawSocket.open(url, 'ada', { session: socket.session })
    expect(await again.next('result')).toEqual(result)
  })
})

describe('a client that sends too much', () => {
  it('learns how long to wait, to the millisecond, and may still end what it began', async () => {
    const { url } = await serve({ clock: fakeClock(), rate: { perSecond: 1_000, burst: 1 } })
    const socket = await RawSocket.open(url)
    socket.say(call('a'))
    const { seq } = await socket.next('result')
    const refused: [ClientMessage, string | undefined][] = [
      [call('b'), 'b'],
      [{ type: 'watch', events: [] }, undefined],
      [{ ...toolsOf('x'), id: 't' }, 't'],
    ]
    for (const [message, id] of refused) {
      socket.say(message)
      const error = { code: 'RATE_LIMITED', message: 'token:ada sends more messages than it may; wait 1 ms.' }
      expect(await socket.next('error')).toMatchObject({ ...(id && { id }), error })
    }
    socket.say({ type: 'received', seq })
    socket.say({ type: 'cancel', id: 'none' })
    expect((await socket.next('error')).error.code).toBe('NOT_FOUND')
    socket.say({ type: 'answer', callId: 'none', data: 1 })
    expect((await socket.next('error')).error.code).toBe('NOT_FOUND')
    await roundTrip(socket)
    expect(socket.inbox).toEqual([])
  })
})

it('who may not answer for others neither approves nor replies', async () => {
  const { url, answered } = await serve()
  const socket = await RawSocket.open(url, 'eve')
  socket.say({ type: 'approve', id: 'a', approval: 'x', reply: { decision: 'allow' } })
  socket.say({ type: 'reply', id: 'b', question: 'q', reply: { answer: 'yes' } })
  for (const id of ['a', 'b'])
    expect(await socket.next('error')).toMatchObject({
      id,
      error: { code: 'FORBIDDEN', hint: 'Use a token with the scope approve.' },
    })
  expect(answered).toEqual([])
})
