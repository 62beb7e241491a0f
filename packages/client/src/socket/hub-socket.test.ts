import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { gatedCounter } from '../../../../test/support/gated-counter.ts'
import { serveWs, type WsServed } from '../../../../test/support/ws-served.ts'
import type { ServiceEvent } from '../../../core/src/protocol/service.ts'
import type { ConnectOptions, SocketState } from '../client-options.ts'
import { createClient } from '../create-client.ts'
import type { HubSocket } from './hub-socket.ts'
import type { OwnTool } from './socket-tools.ts'

const counter = gatedCounter()

type Tools = {
  'test.increment': { input: { n?: number }; output: { n?: number } }
  editor_add: { input: object; output: number }
}

let served: WsServed
const open: HubSocket<Tools>[] = []

async function connect(options: ConnectOptions = {}, token = 'ada'): Promise<HubSocket<Tools>> {
  const socket = await createClient<Tools>({ url: served.url, token, WebSocket }).connect(options)
  open.push(socket)
  return socket
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(setImmediate)
}

beforeAll(async () => {
  served = await serveWs({ hub: { tools: [counter.tool] } })
})
afterEach(() => {
  counter.reset()
  for (const socket of open.splice(0)) socket.close()
})
afterAll(() => served.close())

describe('HubSocket', () => {
  it('calls, streams, and knows who it is', async () => {
    const socket = await connect()
    expect(socket.principal).toBe('token:ada')
    const result = await socket.call('test.increment', { n: 7 })
    expect(result.ok && result.data.n).toBe(7)
    const types: string[] = []
    for await (const event of socket.stream('test.increment', {})) types.push(event.type)
    expect(types[0]).toBe('call-started')
    expect(types).toContain('call-progressed')
    expect(types.at(-1)).toBe('call-ended')
  })

  it('queues more calls than may be under way, and gets every result', async () => {
    const socket = await connect()
    const results = await Promise.all(Array.from({ length: 600 }, (_, n) => socket.call('test.increment', { n })))
    expect(results.map((result) => result.ok && result.data.n)).toEqual(results.map((_, n) => n))
    expect(counter.count).toBe(600)
  })

  it('loses and doubles nothing when connections drop at any moment', async () => {
    const states: SocketState[] = []
    const socket = await connect({ onStateChange: (state) => states.push(state) })
    counter.shut()
    const calls = Array.from({ length: 20 }, (_, n) => socket.call('test.increment', { n }))
    await counter.reached(20)
    // Between call and result; the next call goes into a connection that is dead and does not know.
    served.drop()
    calls.push(socket.call('test.increment', { n: 20 }))
    counter.release()
    const results = await Promise.all(calls)
    expect(results.map((result) => result.ok && result.data.n)).toEqual(results.map((_, n) => n))
    // After results, before they are acknowledged.
    served.drop()
    expect((await socket.call('test.increment', { n: 21 })).ok).toBe(true)
    expect(counter.count).toBe(22)
    expect(states).toEqual(['open', 'reconnecting', 'open', 'reconnecting', 'open'])
  })

  it('makes a call once also when the server has forgotten the session', async () => {
    const socket = await connect()
    const result = await socket.call('test.increment', {})
    counter.shut()
    const call = socket.call('test.increment', { n: 1 })
    await counter.reached(2)
    served.drop()
    // The session is over; the call has a key and continues.
    served.endpoint.dismiss(() => true)
    counter.release()
    expect(await call).toMatchObject({ ok: true, data: { n: 1 } })
    expect({ count: counter.count, ok: result.ok }).toEqual({ count: 2, ok: true })
  })

  it('cancels by signal, before, under way, and while the connection is down', async () => {
    const socket = await connect()
    counter.shut()
    await expect(socket.call('test.increment', {}, { signal: AbortSignal.abort('never') })).rejects.toBe('never')
    const controller = new AbortController()
    const call = socket.call('test.increment', {}, { signal: controller.signal })
    await counter.reached(1)
    controller.abort('enough')
    expect(await call).toMatchObject({ ok: false, status: 'aborted' })
    const second = new AbortController()
    const down = socket.call('test.increment', {}, { signal: second.signal })
    await counter.reached(2)
    served.drop()
    const unheard = expect(socket.call('test.increment', {}, { signal: second.signal })).rejects.toBe('late')
    second.abort('late')
    expect(await down).toMatchObject({ ok: false, status: 'aborted' })
    await unheard
    for await (const event of socket.stream('test.increment', {})) if (event.type === 'call-progressed') break
    expect(counter.count).toBe(3)
  })

  it('executes its own tools once, whatever drops meanwhile', async () => {
    const socket = await connect()
    const caller = await connect()
    let executed = 0
    let finish: () => void = () => {}
    const finished = new Promise<void>((resolve) => (finish = resolve))
    const definition = { name: 'editor_add', description: 'Add.', input: { type: 'object', properties: {} } }
    const execute = async () => {
      executed++
      await finished
      return executed
    }
    expect(await socket.registerTools({ name: 'editor', tools: [{ definition, execute }] })).toMatchObject({
      tools: ['editor_add'],
      refused: [],
    })
    const call = caller.call('editor_add', {})
    await until(() => executed === 1)
    served.drop()
    // The answer goes into a connection that is dead and does not know.
    finish()
    expect(await call).toMatchObject({ ok: true, data: 1 })
    expect(executed).toBe(1)
    served.drop()
    served.endpoint.dismiss(() => true)
    await socket.call('test.increment', {})
    expect(await caller.call('editor_add', {})).toMatchObject({ ok: true, data: 2 })
  })

  it('stops its own tool when nobody waits for it any more', async () => {
    const socket = await connect()
    const caller = new AbortController()
    const definition = { name: 'editor_add', description: 'Add.', input: { type: 'object', properties: {} } }
    const stopped = new Promise((resolve) => {
      const execute: OwnTool['execute'] = (_, { signal }) => {
        signal.addEventListener('abort', resolve)
        caller.abort()
        return new Promise(() => {})
      }
      void socket.registerTools({ name: 'editor', tools: [{ definition, execute }] })
    })
    expect(await socket.call('editor_add', {}, { signal: caller.signal })).toMatchObject({ status: 'aborted' })
    await stopped
  })

  it('tells what own tools throw, and refuses what another has', async () => {
    const socket = await connect()
    const definition = { name: 'editor_add', description: 'Add.', input: { type: 'object', properties: {} } }
    const execute = () => {
      throw new Error('no editor here')
    }
    await socket.registerTools({ name: 'editor', tools: [{ definition, execute }] })
    const result = await socket.call('editor_add', {})
    expect(result).toMatchObject({ ok: false, error: { code: 'UPSTREAM_ERROR' } })
    expect(result.error?.message).toContain('no editor here')
    await expect(socket.registerTools({ name: 'no name', tools: [{ definition, execute }] })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
    })
    await socket.registerTools({ name: 'editor', tools: [] })
    expect((await socket.call('editor_add', {})).error?.code).toBe('TOOL_NOT_FOUND')
  })

  it('watches, sees who is there, answers approval requests, and is notified when something was missed', async () => {
    const socket = await connect({}, 'bob')
    const events: ServiceEvent[] = []
    const people: string[][] = []
    socket.watch(['policy-changed', 'approval'], (event) => events.push(event))
    const stop = socket.onPresence((present) => people.push(present.map(({ name }) => name)))
    await until(() => people.length > 0)
    expect(people.at(-1)).toEqual(['token:bob'])
    stop()
    served.events.publish({ type: 'policy-changed' })
    await until(() => events.length === 1)
    expect(await socket.approve('x1', { decision: 'deny' })).toEqual({ won: true })
    expect(await socket.reply('q1', { answer: 'yes' })).toEqual({ won: false })
    expect(served.answered).toHaveLength(2)
    served.drop()
    served.endpoint.dismiss(() => true)
    await until(() => events.length === 2)
    expect(events[1]).toEqual({ type: 'reset' })
    await socket.call('test.increment', {})
    served.events.publish({ type: 'policy-changed' })
    await until(() => events.length === 3)
  })

  it('rejects what was refused, and tells what answers nothing', async () => {
    const problems: Error[] = []
    const eve = await connect({ onProblem: (problem) => problems.push(problem) }, 'eve')
    await expect(eve.call('test.increment', {})).rejects.toMatchObject({ name: 'ApiError', code: 'FORBIDDEN' })
    const stranger = createClient({ url: served.url, token: 'nobody', WebSocket })
    await expect(stranger.connect()).rejects.toMatchObject({ code: 'CLIENT_GONE' })
    expect(() => createClient({ url: served.url }).connect()).toThrow('package ws')
    expect(problems).toEqual([])
  })

  it('ends with its goodbye, and when it is not admitted any more', async () => {
    counter.shut()
    const socket = await connect()
    const call = socket.call('test.increment', {})
    socket.close()
    await expect(call).rejects.toMatchObject({ code: 'ABORTED' })
    await expect(socket.call('test.increment', {})).rejects.toMatchObject({ code: 'ABORTED' })
    const revoked = await connect()
    const lost = revoked.call('test.increment', {})
    served.endpoint.dismiss(({ name }) => name === 'token:ada')
    await expect(lost).rejects.toMatchObject({ code: 'UNAUTHENTICATED' })
    const controller = new AbortController()
    await connect({ signal: controller.signal })
    controller.abort()
    await expect(connect({ signal: controller.signal })).rejects.toThrow('abort')
  })
})
