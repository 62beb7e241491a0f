import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { RawSocket, serveWs, type WsServed } from '../../../../test/support/ws-served.ts'
import type { ClientMessage } from '../../../core/src/protocol/messages.ts'

type Watched = Extract<ClientMessage, { type: 'watch' }>['events'][number]

const ASKS: readonly Watched[] = ['approval', 'question', 'presence']
const OTHERS: readonly Watched[] = ['call', 'run', 'tools-changed', 'policy-changed', 'feature-changed']

const sockets: RawSocket[] = []
let served: WsServed

beforeAll(async () => {
  served = await serveWs({ tokens: { approver: { scopes: ['approve'] }, caller: { scopes: ['call'] } } })
})
afterEach(async () => {
  const open = sockets.splice(0)
  for (const { ws } of open) ws.close(1000)
  await Promise.all(open.map(({ closed }) => closed))
})
afterAll(() => served.close())

async function open(token: string) {
  const socket = await RawSocket.open(served.url, token)
  sockets.push(socket)
  return socket
}

/** Whether the socket may watch this. */
async function watch(socket: RawSocket, events: Watched[]): Promise<boolean> {
  socket.say({ type: 'watch', events })
  socket.say({ type: 'ping' })
  await socket.next('pong')
  const errors = socket.inbox.splice(0).filter((message) => message.type === 'error')
  for (const { error } of errors) expect(error.code).toBe('FORBIDDEN')
  return errors.length === 0
}

it.each([
  ['eve', ASKS, true],
  ['eve', OTHERS, true],
  ['approver', ASKS, true],
  ['approver', OTHERS, false],
  ['caller', ASKS, false],
  ['caller', OTHERS, false],
] as const)('%s may watch each of %j: %s', async (token, events, mayWatch) => {
  const socket = await open(token)
  for (const event of events) expect(await watch(socket, [event]), event).toBe(mayWatch)
})

it.each(['approval', 'question'] as const)(
  'a session that may answer attends while it watches for %s',
  async (event) => {
    const [approver, reader] = [await open('approver'), await open('eve')]
    expect([await watch(approver, [event]), await watch(reader, [event])]).toEqual([true, true])
    expect(served.attending).toEqual(new Set(['token:approver']))
    await watch(approver, ['presence'])
    expect(served.attending).toEqual(new Set())
  },
)

it('a session that has said goodbye is neither seen nor attends any more', async () => {
  const [approver, reader] = [await open('approver'), await open('eve')]
  await watch(approver, ['approval'])
  await watch(reader, ['presence'])
  approver.ws.close(1000)
  expect((await reader.next('event')).event).toMatchObject({ type: 'presence', people: [{ name: 'token:eve' }] })
  expect(served.attending).toEqual(new Set())
})

it('hears only what it watches now', async () => {
  const reader = await open('eve')
  await watch(reader, ['policy-changed'])
  await watch(reader, ['tools-changed'])
  served.events.publish({ type: 'policy-changed' } as never)
  served.events.publish({ type: 'tools-changed' })
  expect((await reader.next('event')).event.type).toBe('tools-changed')
})

it.each<['approver' | 'eve', string, boolean, boolean]>([
  ['approver', 'token:bob', true, true],
  ['approver', 'token:bob', false, false],
  ['approver', 'token:approver', true, false],
  ['eve', 'token:bob', true, false],
])('%s sees whether it may answer what %s asks (open: %s): %s', async (token, caller, isOpen, mayAnswer) => {
  const socket = await open(token)
  await watch(socket, ['approval', 'question'])
  const approval = { id: 'a', caller, mayAnswer: isOpen, title: 'x' } as never
  served.events.publish({ type: 'approval', approval })
  expect((await socket.next('event')).event).toEqual({
    type: 'approval',
    approval: { id: 'a', caller, title: 'x', mayAnswer },
  })
  const question = { id: 'q', mayAnswer: isOpen, title: 'y' } as never
  served.events.publish({ type: 'question', question })
  expect((await socket.next('event')).event).toEqual({
    type: 'question',
    question: { id: 'q', title: 'y', mayAnswer: isOpen && token === 'approver' },
  })
})

it('a watcher of presence is notified once who is there, also who was there before', async () => {
  const people = (...names: string[]) => ({ type: 'presence', people: names.map((name) => ({ name })) })
  const [first, second] = [await open('eve'), await open('eve')]
  const told = async (socket: RawSocket) => {
    socket.say({ type: 'watch', events: ['presence'] })
    socket.say({ type: 'ping' })
    await socket.next('pong')
    return socket.inbox.splice(0).map((message) => (message.type === 'event' ? message.event : message))
  }
  for (const socket of [first, second, second]) expect(await told(socket)).toMatchObject([people('token:eve')])
})

it('a session that watches nothing any more is not there', async () => {
  const [reader, approver] = [await open('eve'), await open('approver')]
  await watch(reader, ['presence'])
  await watch(approver, ['presence'])
  await reader.next('event')
  await watch(approver, [])
  expect((await reader.next('event')).event).toMatchObject({ type: 'presence', people: [{ name: 'token:eve' }] })
})
