import { createMemoryStore } from '@tool-hub/library/stores'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { gatedCounter } from '../../../../test/support/gated-counter.ts'
import { RawSocket, serveWs, type WsServed } from '../../../../test/support/ws-served.ts'

const counter = gatedCounter()
const sockets: RawSocket[] = []
let served: WsServed

async function open(...args: Parameters<typeof RawSocket.open>) {
  const socket = await RawSocket.open(...args)
  sockets.push(socket)
  return socket
}

beforeAll(async () => {
  served = await serveWs({
    hub: { tools: [counter.tool] },
    tokens: { slow: { scopes: ['call'], rate: { perSecond: 0.001, burst: 2 } } },
  })
})
afterEach(() => {
  counter.reset()
  for (const socket of sockets.splice(0)) socket.ws.close(1000)
})
afterAll(() => served.close())

const call = (id: string, others: object = {}) =>
  ({ type: 'call', id, tool: 'test.increment', input: {}, ...others }) as const

describe('the WebSocket endpoint', () => {
  it('says welcome, calls, tells progress when asked to, and numbers what it says', async () => {
    const socket = await open(served.url)
    expect(socket.welcome).toMatchObject({ resumed: false, principal: 'token:ada' })
    expect(socket.ws.protocol).toBe('tool-hub.v1')
    socket.say(call('a', { stream: true, input: { n: 7 }, purpose: 'a test' }))
    const { seq, id, result } = await socket.next('result')
    expect(result).toMatchObject({ ok: true, data: { n: 7 } })
    expect({ id, seq }).toEqual({ id: 'a', seq: 3 })
    const progress = [await socket.next('progress'), await socket.next('progress')]
    expect(progress.map(({ event }) => event.type)).toEqual(['call-started', 'call-progressed'])
    socket.say({ type: 'ping' })
    await socket.next('pong')
  })

  it('lets nobody in without a token, or at another path', async () => {
    const refused = async (socket: RawSocket) =>
      await new Promise((resolve) => socket.ws.on('unexpected-response', (_, response) => resolve(response.statusCode)))
    expect(await refused(new RawSocket(served.url, 'nobody'))).toBe(401)
    expect(await refused(new RawSocket(served.url, undefined))).toBe(401)
    expect(await refused(new RawSocket(`${served.url}/other`, 'ada'))).toBe(404)
  })

  it('continues after a drop: the call has run once and its result waits', async () => {
    counter.shut()
    const first = await open(served.url)
    first.say(call('a'))
    await counter.reached(1)
    await first.drop()
    counter.release()
    const second = await open(served.url, 'ada', { session: first.session, received: 0 })
    expect(second.welcome).toMatchObject({ resumed: true, session: first.session })
    second.say(call('a'))
    expect(await second.next('result')).toMatchObject({ id: 'a', seq: 1, result: { ok: true } })
    expect(counter.count).toBe(1)
  })

  it('sends a result again that came to nobody, and not one that was received', async () => {
    const first = await open(served.url)
    first.say(call('a'))
    first.say(call('b'))
    const [a, b] = [await first.next('result'), await first.next('result')]
    await first.drop()
    const second = await open(served.url, 'ada', { session: first.session, received: a.seq })
    expect(await second.next('result')).toEqual(b)
    second.say(call('b'))
    expect(await second.next('result')).toEqual(b)
    second.say({ type: 'received', seq: b.seq })
    second.say(call('b'))
    expect(await second.next('error')).toMatchObject({ id: 'b', error: { code: 'CONFLICT' } })
    expect(counter.count).toBe(2)
    expect(second.inbox).toEqual([])
  })

  it('knows no session of another principal, and gives one to the last connection', async () => {
    counter.shut()
    const ada = await open(served.url)
    ada.say(call('a'))
    const bob = await open(served.url, 'bob', { session: ada.session })
    expect(bob.welcome.resumed).toBe(false)
    expect(bob.session).not.toBe(ada.session)
    bob.say({ type: 'cancel', id: 'a' })
    expect(await bob.next('error')).toMatchObject({ id: 'a', error: { code: 'NOT_FOUND' } })
    const again = await open(served.url, 'ada', { session: ada.session })
    expect(again.welcome.resumed).toBe(true)
    expect(await ada.closed).toBe(4409)
    counter.release()
    expect(await again.next('result')).toMatchObject({ id: 'a', result: { ok: true } })
  })

  it('cancels, and aborts what nobody can get any more', async () => {
    counter.shut()
    const socket = await open(served.url)
    socket.say(call('a'))
    await counter.reached(1)
    socket.say({ type: 'cancel', id: 'a' })
    expect(await socket.next('result')).toMatchObject({ id: 'a', result: { ok: false, status: 'aborted' } })
    const ended: unknown[] = []
    const stop = served.hub.onEvent((event) => event.type === 'call-ended' && ended.push(event.result.status))
    socket.say(call('b'))
    await counter.reached(2)
    socket.ws.close(1000)
    while (ended.length === 0) await new Promise(setImmediate)
    stop()
    expect(ended).toEqual(['aborted'])
  })

  it('keeps an approval whose client is gone; the same call continues to wait for it', async () => {
    const store = createMemoryStore()
    const asking = { tools: [counter.tool], store, policy: [{ ask: 'test.increment' }], approve: undefined }
    const other = await serveWs({ hub: { ...asking, approvals: { inbox: true } } })
    const waiting = async () => (await store.approvals.list({ state: 'waiting' })).map(({ id }) => id)
    const gone = new Promise((resolve) => other.hub.onEvent(({ type }) => type === 'call-ended' && resolve(type)))
    const first = await open(other.url)
    first.say(call('a'))
    await expect.poll(waiting).toHaveLength(1)
    const [id] = await waiting()
    first.ws.close(1000)
    await gone
    const second = await open(other.url)
    second.say(call('b'))
    await expect.poll(() => other.hub.approvals.list().map((each) => each.id)).toEqual([id])
    await other.hub.approvals.answer(id!, { decision: 'allow', by: 'anna' })
    expect(await second.next('result')).toMatchObject({ id: 'b', result: { ok: true } })
    await other.close()
  })

  it('complains about what it does not understand, and closes after twenty times', async () => {
    const socket = await open(served.url)
    socket.say('{')
    expect(await socket.next('error')).toMatchObject({ error: { code: 'INPUT_SCHEMA_INVALID' } })
    socket.say({ ...call('x'), __proto__: 1, secret: true } as never)
    expect(await socket.next('error')).toMatchObject({ id: 'x' })
    socket.say({ type: 'hello' })
    expect((await socket.next('error')).error.message).toContain('said hello already')
    for (let bad = 3; bad < 20; bad++) socket.ws.send(Buffer.from([1]), { binary: true })
    expect(await socket.closed).toBe(4400)
  })

  it('needs hello first', async () => {
    const socket = new RawSocket(served.url, 'ada')
    sockets.push(socket)
    await new Promise((resolve) => socket.ws.on('open', resolve))
    socket.say(call('a'))
    expect((await socket.next('error')).error.message).toContain('hello comes first')
  })

  it('asks for scopes, and holds to the rate of a token', async () => {
    const eve = await open(served.url, 'eve')
    eve.say(call('a'))
    expect(await eve.next('error')).toMatchObject({ id: 'a', error: { code: 'FORBIDDEN' } })
    eve.say({ type: 'approve', id: 'b', approval: 'x', reply: { decision: 'allow' } })
    expect(await eve.next('error')).toMatchObject({ id: 'b', error: { code: 'FORBIDDEN' } })
    const slow = await open(served.url, 'slow')
    for (const id of ['a', 'b', 'c']) slow.say(call(id))
    expect(await slow.next('error')).toMatchObject({ id: 'c', error: { code: 'RATE_LIMITED', retryable: true } })
    slow.say({ type: 'watch', events: ['call'] })
    expect(await slow.next('error')).toMatchObject({ error: { code: 'RATE_LIMITED' } })
  })

  it('passes answers of people on once, and their failures', async () => {
    const bob = await open(served.url, 'bob')
    const approve = { type: 'approve', id: 'a', approval: 'x1', reply: { decision: 'allow' } } as const
    bob.say(approve)
    expect(await bob.next('done')).toMatchObject({ id: 'a', outcome: { won: true } })
    bob.say(approve)
    expect(await bob.next('done')).toMatchObject({ id: 'a', outcome: { won: true } })
    bob.say({ type: 'reply', id: 'r', question: 'q1', reply: { answer: 'yes' } })
    await bob.next('done')
    bob.say({ ...approve, id: 'c', approval: 'none' })
    expect(await bob.next('error')).toMatchObject({ id: 'c', error: { code: 'NOT_FOUND' } })
    expect(served.answered).toEqual([
      { by: 'token:bob', id: 'x1', answer: { decision: 'allow' }, via: 'websocket' },
      { by: 'token:bob', id: 'q1', reply: { answer: 'yes' }, via: 'websocket' },
    ])
  })

  it('tells those who watch what happens and who is there, also what they missed', async () => {
    const ada = await open(served.url)
    ada.say({ type: 'watch', events: ['presence', 'approval'] })
    expect((await ada.next('event')).event).toMatchObject({ people: [{ name: 'token:ada' }] })
    expect(served.attending).toEqual(new Set(['token:ada']))
    const bob = await open(served.url, 'bob')
    bob.say({ type: 'watch', events: ['presence', 'tools-changed'] })
    expect((await bob.next('event')).event).toMatchObject({ people: [{ name: 'token:ada' }, { name: 'token:bob' }] })
    await ada.next('event')
    await bob.drop()
    expect((await ada.next('event')).event).toMatchObject({ people: [{ name: 'token:ada' }] })
    served.events.publish({ type: 'tools-changed' })
    const again = await open(served.url, 'bob', { session: bob.session, received: 1 })
    expect((await again.next('event')).event.type).toBe('presence')
    expect((await again.next('event')).event.type).toBe('tools-changed')
    served.events.publish({ type: 'approval', approval: { id: 'x', caller: 'token:ada', mayAnswer: true } as never })
    await ada.next('event')
    expect((await ada.next('event')).event).toMatchObject({ approval: { id: 'x', mayAnswer: false } })
  })

  it('gives a client its own tools to execute, again after a drop, and takes one answer', async () => {
    const ada = await open(served.url)
    const tools = [
      { name: 'editor_open', description: 'Open.', input: { type: 'object', properties: {} } },
      { name: '' },
    ]
    ada.say({ type: 'tools', id: 't', name: 'editor', tools })
    expect(await ada.next('done')).toMatchObject({ id: 't', outcome: { tools: ['editor_open'], refused: [{}] } })
    ada.say({ type: 'call', id: 'a', tool: 'editor_open', input: {} })
    const told = await ada.next('execute')
    ada.say({ type: 'received', seq: told.seq })
    ada.say({ type: 'answer', callId: told.callId, data: 1, error: { message: 'both' } } as never)
    await ada.drop()
    const again = await open(served.url, 'ada', { session: ada.session, received: told.seq })
    const second = await again.next('execute')
    expect(second.callId).toBe(told.callId)
    again.say({ type: 'answer', callId: told.callId, data: { opened: true } })
    expect((await again.next('result')).result).toMatchObject({ ok: true, data: { opened: true } })
    again.say({ type: 'answer', callId: told.callId, data: 2 })
    expect((await again.next('error')).error.code).toBe('CONFLICT')
    again.say({ type: 'call', id: 'b', tool: 'editor_open', input: {} })
    const late = await again.next('execute')
    again.say({ type: 'cancel', id: 'b' })
    expect(await again.next('abandon')).toMatchObject({ callId: late.callId, reason: 'ABORTED' })
    again.say({ type: 'tools', name: 'editor', tools: [] })
    await again.next('done')
    expect(
      served.hub
        .as({ name: 'token:ada' })
        .list()
        .map(({ name }) => name),
    ).not.toContain('editor_open')
  })

  it('refuses more concurrent calls than it may', async () => {
    counter.shut()
    const socket = await open(served.url)
    for (let n = 0; n < 257; n++) socket.say(call(String(n)))
    expect(await socket.next('error')).toMatchObject({ id: '256', error: { code: 'RATE_LIMITED' } })
    counter.release()
    for (let n = 0; n < 256; n++) await socket.next('result')
  })
})
