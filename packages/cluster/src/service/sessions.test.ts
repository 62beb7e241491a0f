import type { AddressInfo } from 'node:net'
import { sha256 } from '@tool-hub/core/lib'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { z } from 'zod'
import {
  type ClusterService,
  newProcess,
  type ServedCluster,
  serveCluster,
  serveMember,
  type Token,
  whoami,
} from '../../../../test/support/cluster-served.ts'
import { eventually } from '../../../../test/support/eventually.ts'
import { defineTool } from '../../../core/src/tool.ts'

const asks = defineTool({
  name: 'asks',
  description: 'Asks.',
  input: z.strictObject({}),
  execute: async (_, ctx) => (await ctx.ask({ question: 'Well?' })).answer,
})

const careful = defineTool({
  name: 'careful',
  description: 'Needs a person.',
  input: z.strictObject({}),
  execute: () => 'done',
})

let cluster: ServedCluster
let first: ClusterService
let second: ClusterService
let ada: Token
beforeAll(async () => {
  cluster = await serveCluster(2, {
    tools: [whoami, asks, careful],
    policy: [{ allow: 'mine.add' }, { ask: 'careful' }],
  })
  ;[first, second] = cluster.services as [ClusterService, ClusterService]
  ada = await cluster.newToken('ada', ['call', 'read', 'approve'])
})
afterAll(() => cluster.close())

interface Message {
  readonly type: string
  readonly [key: string]: unknown
}

/** A WebSocket at one process, and all messages that it received. */
async function open(
  service: ClusterService,
  { token = ada.secret, ...hello }: Record<string, unknown> & { token?: string } = {},
) {
  const socket = new WebSocket(`${service.url.replace('http', 'ws')}/v1/ws`, ['tool-hub.v1', `bearer.${token}`])
  const heard: Message[] = []
  const closed = new Promise<number>((resolve) => socket.once('close', resolve))
  socket.on('message', (data) => void heard.push(JSON.parse(data.toString())))
  socket.on('error', () => {})
  await new Promise((resolve) => socket.once('open', resolve))
  onTestFinished(() => socket.terminate())
  const say = (message: Message) => socket.send(JSON.stringify(message))
  say({ type: 'hello', ...hello })
  const next = (type: string, matches: (message: Message) => boolean = () => true) =>
    eventually(() => {
      const found = heard.find((message) => message.type === type && matches(message))
      expect(found, `${type} among ${JSON.stringify(heard)}`).toBeDefined()
      return found!
    })
  const welcome = await next('welcome')
  return { socket, heard, say, next, closed, welcome }
}

describe('a WebSocket session', () => {
  it('continues over a connection to another process', async () => {
    const before = await open(second)
    before.say({
      type: 'tools',
      name: 'mine',
      tools: [{ name: 'mine.add', description: 'Adds.', parameters: { type: 'object' } }],
    })
    await before.next('done')
    before.socket.terminate()
    await before.closed
    const after = await open(first, { session: before.welcome.session, received: 0 })
    expect(after.welcome).toMatchObject({ resumed: true, session: before.welcome.session })
    after.say({ type: 'call', id: 'c1', tool: 'mine.add', input: {} })
    const { callId } = await after.next('execute')
    after.say({ type: 'answer', callId, data: 42 })
    expect(await after.next('result', ({ id }) => id === 'c1')).toMatchObject({ result: { ok: true, data: 42 } })
  })

  it('makes its calls where their run is, with their events', async () => {
    await second.hub.cluster!.lease('ws-run', 'token:ada')
    const { say, next } = await open(first)
    say({ type: 'call', id: 'c1', tool: 'whoami', input: {}, run: 'ws-run', stream: true })
    expect(await next('result')).toMatchObject({ id: 'c1', result: { ok: true, data: { run: 'ws-run' } } })
    expect(await next('progress')).toMatchObject({ event: { type: 'call-started' } })
    expect(second.hub.cluster!.leaseOf('ws-run')).toBeDefined()
    const lines = await second.fetch('/v1/runs/ws-run/lines')
    expect(((await lines.json()) as { lines: unknown[] }).lines.length).toBeGreaterThan(0)
  })

  it('of another caller is not continued', async () => {
    const eve = await cluster.newToken('eve', ['call'])
    const mine = await open(second)
    const theirs = await open(first, { token: eve.secret, session: mine.welcome.session })
    expect(theirs.welcome).toMatchObject({ resumed: false, principal: 'token:eve' })
  })

  it('of a process that is gone is replaced by a new one', async () => {
    const { welcome } = await open(first, { session: `${'0'.repeat(16)}.abc` })
    expect(welcome).toMatchObject({ resumed: false })
  })

  it('is closed with its connection, and the other way round', async () => {
    const before = await open(second)
    const over = await open(first, { session: before.welcome.session })
    // The session continues over the new connection only.
    expect(await before.closed).toBe(4409)
    over.socket.close(1000)
    expect(await over.closed).toBe(1000)
    const again = await open(first, { session: before.welcome.session })
    expect(again.welcome).toMatchObject({ resumed: false })
  })
})

const ACCEPT = { accept: 'application/json, text/event-stream' }

/** A request of MCP at one process; returns its answer, which may be the only event of a stream. */
async function mcp(service: ClusterService, json: object, headers: Record<string, string> = {}) {
  const response = await service.fetch('/mcp', {
    token: ada.secret,
    json: { jsonrpc: '2.0', id: 1, ...json },
    headers: { ...ACCEPT, ...headers },
  })
  const text = await response.text()
  const data = /^data: (\{.*)$/m.exec(text)?.[1] ?? text
  return {
    status: response.status,
    session: response.headers.get('mcp-session-id'),
    answer: data === '' ? undefined : JSON.parse(data),
  }
}

async function initialize(service: ClusterService): Promise<{ 'mcp-session-id': string }> {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } }
  const { session } = await mcp(service, { method: 'initialize', params })
  const headers = { 'mcp-session-id': session! }
  await service.fetch('/mcp', {
    token: ada.secret,
    json: { jsonrpc: '2.0', method: 'notifications/initialized' },
    headers: { ...ACCEPT, ...headers },
  })
  return headers
}

describe('a WebSocket to a process without the key', () => {
  it('is closed, and the client connects again', async () => {
    const forged = new WebSocketServer({ port: 0, host: '127.0.0.1' })
    onTestFinished(() => forged.close())
    await new Promise((resolve) => forged.once('listening', resolve))
    const { port } = forged.address() as AddressInfo
    await second.store.processes.beat(newProcess('p-forged', `http://127.0.0.1:${port}`))
    await first.hub.cluster!.beat()
    const session = `${sha256('p-forged').slice(0, 16)}.abc`
    const socket = new WebSocket(`${first.url.replace('http', 'ws')}/v1/ws`, ['tool-hub.v1', `bearer.${ada.secret}`])
    const heard: string[] = []
    socket.on('message', (data) => heard.push(data.toString()))
    socket.once('open', () => socket.send(JSON.stringify({ type: 'hello', session })))
    const code = await new Promise((resolve) => socket.once('close', resolve))
    expect([code, heard]).toEqual([1013, []])
  })
})

describe('a session of the legacy era of MCP', () => {
  it('is served by every process', async () => {
    const headers = await initialize(second)
    const call = { method: 'tools/call', params: { name: 'whoami', arguments: {} } }
    const [here, there] = await Promise.all([
      mcp(first, { ...call, id: 2 }, headers),
      mcp(second, { ...call, id: 3 }, headers),
    ])
    expect(here.answer.result.content).toEqual(there.answer.result.content)
    const stream = await first.fetch('/mcp', {
      token: ada.secret,
      headers: { accept: 'text/event-stream', ...headers },
    })
    expect([stream.status, stream.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
    const end = await first.fetch('/mcp', { token: ada.secret, method: 'DELETE', headers })
    expect(end.status).toBe(200)
    await stream.text()
    expect((await mcp(second, call, headers)).status).toBe(404)
  })

  it('of a process that is gone is not found, so that the client initializes again', async () => {
    const gone = { 'mcp-session-id': `${'0'.repeat(16)}.b3b5` }
    expect((await mcp(first, { method: 'ping' }, gone)).status).toBe(404)
  })

  it('of another caller is not found', async () => {
    const headers = await initialize(second)
    const eve = await cluster.newToken('mcp-eve', ['call'])
    const ping = {
      token: eve.secret,
      json: { jsonrpc: '2.0', id: 1, method: 'ping' },
      headers: { ...ACCEPT, ...headers },
    }
    expect((await first.fetch('/mcp', ping)).status).toBe(404)
  })
})

describe('a round of the modern era of MCP', () => {
  it('is answered at every process', async () => {
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
    }
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'asks' }
    const params = { name: 'asks', arguments: {}, _meta }
    const { answer } = await mcp(second, { method: 'tools/call', params }, headers)
    const { requestState, inputRequests } = answer.result
    const [key] = Object.keys(inputRequests)
    const inputResponses = { [key!]: { action: 'accept', content: { answer: 'fine' } } }
    const next = await mcp(
      first,
      { method: 'tools/call', params: { ...params, requestState, inputResponses } },
      headers,
    )
    expect(next.answer.result.content).toMatchObject([{ text: 'fine' }])
  })
})

it('a conversation of MCP that its client names is one run, whichever process gets the request', async () => {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
    'tool-hub/run': 'talk',
  }
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'whoami' }
  const params = { name: 'whoami', arguments: {}, _meta }
  const runs = []
  for (const service of [second, first, second]) {
    const { answer } = await mcp(service, { method: 'tools/call', params }, headers)
    runs.push(JSON.parse(answer.result.content[0].text).run)
  }
  expect(runs).toEqual(Array(3).fill(expect.stringMatching(/^mcp-talk-/)))
  expect(new Set(runs).size).toBe(1)
})

describe('a token that is revoked at one process', () => {
  it('is refused at all of them, and loses what it has open', async () => {
    const bob = await cluster.newToken('bob', ['call', 'read'])
    const socket = await open(second, { token: bob.secret })
    const relayed = await open(first, { token: bob.secret })
    const events = await second.fetch('/v1/events', { token: bob.secret })
    const ended = events.text()
    const started = Date.now()
    expect((await first.fetch(`/v1/tokens/${bob.id}`, { method: 'DELETE' })).status).toBe(204)
    expect(await Promise.all([socket.closed, relayed.closed])).toEqual([4401, 4401])
    await ended
    expect(Date.now() - started).toBeLessThan(2_000)
    for (const service of [first, second])
      expect((await service.fetch('/v1/tools', { token: bob.secret })).status).toBe(401)
  })
})

describe('a token that is rotated at one process', () => {
  it('works with both secrets at all of them, and without an overlap loses what it has open', async () => {
    const eve = await cluster.newToken('rotated', ['call', 'read'])
    const rotate = async (overlapMs: number) => {
      const response = await first.fetch(`/v1/tokens/${eve.id}/rotate`, { json: { overlapMs } })
      return ((await response.json()) as { secret: string }).secret
    }
    const status = async (service: ClusterService, token: string) =>
      (await service.fetch('/v1/tools', { token })).status
    const socket = await open(second, { token: eve.secret })
    const next = await rotate(3_600_000)
    for (const service of [first, second])
      for (const secret of [eve.secret, next]) expect(await status(service, secret)).toBe(200)
    const last = await rotate(0)
    expect(await socket.closed).toBe(4401)
    for (const service of [first, second]) {
      for (const secret of [eve.secret, next]) expect(await status(service, secret)).toBe(401)
      expect(await status(service, last)).toBe(200)
    }
  })
})

describe('people', () => {
  it('answer at one process what a call at another waits for', async () => {
    const call = second.fetch('/v1/tools/careful/call', { token: ada.secret, json: {} })
    const approval = await eventually(async () => {
      const listed = await first.fetch('/v1/approvals')
      const { approvals } = (await listed.json()) as { approvals: { id: string; tool: string }[] }
      expect(approvals).toMatchObject([{ tool: 'careful' }])
      return approvals[0]!
    })
    const answered = await first.fetch(`/v1/approvals/${approval.id}`, { json: { decision: 'allow' } })
    expect(answered.status).toBe(200)
    expect(await (await call).json()).toMatchObject({ ok: true })
  })

  it('see who is watching at all processes', async () => {
    const bea = await cluster.newToken('bea', ['read'])
    const here = await open(first)
    here.say({ type: 'watch', events: ['presence'] })
    const names = ({ event }: Message) =>
      (event as { people?: { name: string }[] }).people?.map(({ name }) => name).sort() ?? []
    await here.next('event', (message) => names(message).includes('token:ada'))
    const there = await open(second, { token: bea.secret })
    there.say({ type: 'watch', events: ['call'] })
    await here.next('event', (message) => names(message).join() === 'token:ada,token:bea')
    there.socket.close(1000)
    await there.closed
    await eventually(() => expect(names(here.heard.findLast(({ type }) => type === 'event')!)).toEqual(['token:ada']))
  })
})

describe('events', () => {
  it('may be missing when a process ends, which subscribers are notified of', async () => {
    const third = await serveMember(cluster.folder, 'third')
    const { say, heard } = await open(first)
    const resets = () => heard.filter(({ event }) => (event as Message | undefined)?.type === 'reset').length
    say({ type: 'watch', events: ['call'] })
    const made = await third.fetch('/v1/tools/core_text_stats/call', { json: {} })
    expect(made.status).toBe(200)
    await first.hub.cluster!.beat()
    await eventually(() => expect(resets()).toBeGreaterThan(0))
    const before = resets()
    await third.close()
    await eventually(() => expect(resets()).toBeGreaterThan(before))
  })

  it('of all processes are seen at each of them, and continue after the last one', async () => {
    const callAtSecond = async () => {
      const made = await second.fetch('/v1/tools/whoami/call', { json: {} })
      return ((await made.json()) as { callId: string }).callId
    }
    const stop = new AbortController()
    onTestFinished(() => stop.abort())
    const read = async (headers: Record<string, string>) => {
      const heard = { text: '' }
      const response = await first.fetch('/v1/events?types=call', { headers, signal: stop.signal })
      const reading = async () => {
        for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) heard.text += chunk
      }
      reading().catch(() => {})
      return heard
    }
    const heard = await read({})
    // The first calls may come before the other process is followed.
    await eventually(async () => {
      const callId = await callAtSecond()
      await vi.waitFor(() => expect(heard.text).toContain(callId), { timeout: 500 })
    })
    const [, id] = heard.text.match(/.*id: (\S+)\nevent: call\n/s)!
    const missed = await callAtSecond()
    const later = await read({ 'last-event-id': id! })
    await eventually(() => expect(later.text).toContain(missed))
    expect(later.text).not.toContain('event: reset')
  })
})
