import { afterEach, expect, it } from 'vitest'
import { RawSocket, serveWs, type WsServed } from '../../../../test/support/ws-served.ts'
import type { ClientMessage } from '../../../core/src/protocol/messages.ts'

let served: WsServed | undefined
afterEach(async () => {
  await served?.close()
  served = undefined
})

async function open(limits: NonNullable<Parameters<typeof serveWs>[0]>['limits'] = {}) {
  served = await serveWs({ limits })
  const { hub, endpoint, url } = served
  const socket = await RawSocket.open(url)
  const names = () =>
    hub
      .as({ name: 'token:ada' })
      .list()
      .map(({ name }) => name)
      .filter((name) => name.startsWith('editor'))
  const callOutside = (tool: string) => hub.as({ name: 'token:ada' }).callDynamic(tool, {})
  /** Another connection that resumes the session. */
  const again = async (received: number) => {
    await socket.drop()
    while (endpoint.connections > 0) await new Promise(setImmediate)
    return RawSocket.open(url, 'ada', { session: socket.session, received })
  }
  return { socket, names, callOutside, again }
}

const tool = (name: string) => ({ name, description: 'Open.', input: { type: 'object', properties: {} } })
const tools = (...definitions: object[]) => ({ type: 'tools', name: 'editor', tools: definitions }) as ClientMessage
const call = (id: string) => ({ type: 'call', id, tool: 'editor_open', input: { n: 1 } }) as const

it('replaces the tools of a name, and names those that were not taken', async () => {
  const { socket, names } = await open()
  socket.say(tools(tool('editor_open'), tool('editor_shut')))
  expect(await socket.next('done')).toMatchObject({ outcome: { tools: ['editor_open', 'editor_shut'], refused: [] } })
  const { name, ...facts } = tool('editor_look')
  const asFunction = { type: 'function', function: { name, description: facts.description, parameters: facts.input } }
  socket.say(tools(asFunction, tool('editor_shut'), tool('editor open')))
  const { outcome } = await socket.next('done')
  expect(outcome).toMatchObject({ tools: ['editor_look', 'editor_shut'], refused: [{ name: 'editor open' }] })
  expect(names().sort()).toEqual(['editor_look', 'editor_shut'])
})

it('says how many names a session has', async () => {
  const { socket } = await open()
  for (let index = 0; index < 17; index++)
    socket.say({ type: 'tools', name: `editor${index}`, tools: [tool(`editor_${index}`)] })
  expect((await socket.next('error')).error.message).toBe('A session registers tools under 16 names at most.')
})

it('tells the client which tool to execute with what', async () => {
  const { socket } = await open()
  const input = { type: 'object', properties: { n: { type: 'number' } } }
  socket.say(tools({ ...tool('editor_open'), input }))
  await socket.next('done')
  socket.say(call('a'))
  const { type, seq, callId, ...execution } = await socket.next('execute')
  expect(execution).toEqual({ tool: 'editor_open', input: { n: 1 } })
})

it('takes an execution back when its tool is', async () => {
  const { socket } = await open()
  socket.say(tools(tool('editor_open')))
  await socket.next('done')
  socket.say({ ...call('a'), input: {} })
  const { callId } = await socket.next('execute')
  socket.say(tools())
  expect(await socket.next('abandon')).toMatchObject({ callId, reason: 'CLIENT_GONE' })
  expect((await socket.next('result')).result).toMatchObject({ ok: false, error: { code: 'CLIENT_GONE' } })
})

it('does not tell an execution again that has its answer', async () => {
  const { socket, again } = await open()
  socket.say(tools(tool('editor_open')))
  const { seq } = await socket.next('done')
  socket.say({ ...call('a'), input: {} })
  const { callId } = await socket.next('execute')
  socket.say({ type: 'answer', callId, data: { opened: true } })
  const result = await socket.next('result')
  const second = await again(seq)
  expect(await second.next('result')).toEqual(result)
  second.say({ type: 'ping' })
  await second.next('pong')
  expect(second.inbox).toEqual([])
})

it('an answer that cannot be read leaves the execution waiting', async () => {
  const { socket } = await open()
  socket.say(tools(tool('editor_open')))
  await socket.next('done')
  socket.say({ ...call('a'), input: {} })
  const { callId } = await socket.next('execute')
  socket.say({ type: 'answer', callId, data: 1, error: { message: 'both' } })
  expect((await socket.next('error')).error.code).toBe('INPUT_SCHEMA_INVALID')
  socket.say({ type: 'answer', callId, data: { opened: true } })
  expect((await socket.next('result')).result).toMatchObject({ ok: true, data: { opened: true } })
})

it('a client that acknowledges nothing is given nothing more to execute', async () => {
  const { socket, callOutside } = await open({ keptMessages: 1 })
  socket.say(tools(tool('editor_open')))
  await socket.next('done')
  socket.say(tools(tool('editor_open')))
  await socket.next('done')
  expect(JSON.stringify(await callOutside('editor_open'))).toContain('it does not take what it is sent')
  socket.say({ type: 'ping' })
  await socket.next('pong')
  expect(socket.inbox).toEqual([])
})
