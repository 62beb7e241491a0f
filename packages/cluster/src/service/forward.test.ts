import type { RequestListener } from 'node:http'
import { connect } from 'node:net'
import { sha256 } from '@tool-hub/core/lib'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import {
  type ClusterService,
  holdTool,
  newProcess,
  pretend,
  type ServedCluster,
  serveCluster,
  serveMember,
  type Token,
  whoami,
} from '../../../../test/support/cluster-served.ts'
import { eventually } from '../../../../test/support/eventually.ts'
import { defineTool } from '../../../core/src/tool.ts'
import type { ClusterKey } from './envelope.ts'

const echo = defineTool({
  name: 'echo',
  description: 'Returns what it gets.',
  input: z.strictObject({ text: z.string() }),
  execute: ({ text }) => text,
})

const { hold, held } = holdTool()

let cluster: ServedCluster
let first: ClusterService
let second: ClusterService
let ada: Token
beforeAll(async () => {
  cluster = await serveCluster(2, { tools: [whoami, hold, echo] })
  ;[first, second] = cluster.services as [ClusterService, ClusterService]
  ada = await cluster.newToken('ada', ['call', 'read'])
})
afterAll(() => cluster.close())

/** A run that the second process has, with one call. */
async function runOfSecond(run: string): Promise<string> {
  const response = await second.fetch('/v1/tools/whoami/call', { token: ada.secret, json: { run } })
  expect(await response.json()).toMatchObject({ ok: true })
  return run
}

function at(service: ClusterService, path: string, init: Parameters<ClusterService['fetch']>[1] = {}) {
  return service.fetch(path, { token: ada.secret, ...init })
}

it('/metrics counts what was forwarded, and how long it took', async () => {
  const value = async (name: string) => {
    const text = await (await first.fetch('/metrics')).text()
    return Number(text.split(`\n${name} `)[1]?.split('\n')[0])
  }
  const answered = 'tool_hub_cluster_forwarded_total{outcome="answered"}'
  const before = await value(answered)
  const run = await runOfSecond('counted')
  await first.fetch('/v1/tools/whoami/call', { token: ada.secret, json: { input: {}, run } })
  expect(await value(answered)).toBeGreaterThan(before)
  expect(await value('tool_hub_cluster_forward_seconds_total')).toBeGreaterThan(0)
})

describe('a request for a run that another process has', () => {
  it('is a call that is made there, as the same caller', async () => {
    const run = await runOfSecond('calls')
    const calls = await Promise.all(
      Array.from({ length: 20 }, () =>
        at(first, '/v1/tools/whoami/call', { json: { run } }).then((each) => each.json()),
      ),
    )
    for (const call of calls) expect(call).toMatchObject({ ok: true, data: { run } })
    const { calls: known } = (await (await at(second, `/v1/runs/${run}`)).json()) as { calls: { principal: string }[] }
    expect(known).toHaveLength(21)
    expect(new Set(known.map(({ principal }) => principal))).toEqual(new Set(['token:ada']))
  })

  it('is answered there: its page, lines, record, changes, taint and check', async () => {
    const run = await runOfSecond('pages')
    const paths = ['', '/lines', '/changes', '/taint', '/export'].map((part) => `/v1/runs/${run}${part}`)
    for (const path of [...paths, `/v1/audit/verify?run=${run}`]) {
      const [here, there] = await Promise.all([at(first, path), at(second, path)])
      expect([path, here.status, await here.text()]).toEqual([path, 200, await there.text()])
    }
  })

  it('is answered there: a call, an artifact, what policy says, an undo', async () => {
    const run = await runOfSecond('parts')
    const text = 'long '.repeat(20_000)
    const made = await at(first, '/v1/tools/echo/call', { json: { run, input: { text } } })
    const { callId, artifacts } = (await made.json()) as { callId: string; artifacts: { sha256: string }[] }
    await eventually(async () => expect((await at(first, `/v1/calls/${callId}`)).status).toBe(200))
    const call = (await (await at(first, `/v1/calls/${callId}`)).json()) as { lines: unknown[] }
    expect(call.lines).not.toEqual([])
    const artifact = await at(first, `/v1/artifacts/${artifacts[0]!.sha256}?run=${run}`, {
      headers: { range: 'bytes=0-9' },
    })
    expect([artifact.status, (await artifact.text()).length]).toEqual([206, 10])
    const explained = await at(first, '/v1/policy/explain', { json: { tool: 'whoami', input: {}, run } })
    expect(await explained.json()).toMatchObject({ effect: 'allow' })
    const undone = await first.fetch(`/v1/runs/${run}/undo`, { json: { dryRun: true } })
    expect(undone.status).toBe(200)
  })

  it('has the errors of the process that answers', async () => {
    const run = await runOfSecond('errors')
    const missing = await at(first, `/v1/artifacts/${'0'.repeat(64)}?run=${run}`)
    expect([missing.status, await missing.json()]).toMatchObject([404, { error: { code: 'NOT_FOUND' } }])
    const { secret } = await cluster.newToken('eve', ['call'])
    const others = await at(first, '/v1/tools/whoami/call', { token: secret, json: { run } })
    expect(await others.json()).toMatchObject({ ok: false, error: { code: 'NOT_FOUND' } })
    const head = await at(first, `/v1/runs/${run}`, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
  })

  it('is streamed', async () => {
    const run = await runOfSecond('streams')
    const response = await at(first, '/v1/tools/hold/call', { json: { run }, headers: { accept: 'text/event-stream' } })
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    let said = ''
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      said += chunk
      if (said.includes('call-progressed')) held.release()
    }
    expect(said).toMatch(/event: call-started[\s\S]*event: call-progressed[\s\S]*event: call-ended[\s\S]*released/)
  })

  it('ends when its client goes away', async () => {
    const run = await runOfSecond('aborts')
    const { begun, aborted } = held
    const gone = new AbortController()
    const call = at(first, '/v1/tools/hold/call', { json: { run }, signal: gone.signal })
    await eventually(() => expect(held.begun).toBe(begun + 1))
    gone.abort()
    await expect(call).rejects.toThrow()
    await eventually(() => expect(held.aborted).toBe(aborted + 1))
  })

  it('follows a run that has moved, and is answered here when the run is free', async () => {
    const run = await runOfSecond('moves')
    await at(first, '/v1/tools/whoami/call', { json: { run } })
    // The first process still believes that the second one has it.
    await second.hub.endRun(run)
    await second.hub.cluster!.release(run)
    const response = await at(first, '/v1/tools/whoami/call', { json: { run } })
    expect(await response.json()).toMatchObject({ ok: true, data: { run } })
  })

  it('is answered once the run is open, whichever process opens it first', async () => {
    for (let round = 0; round < 5; round++) {
      const run = `race-${round}`
      const answers = await Promise.all(
        [first, second, first, second].map(async (service) => {
          const response = await at(service, '/v1/tools/whoami/call', { json: { run } })
          return response.json()
        }),
      )
      for (const answer of answers) expect(answer).toMatchObject({ ok: true, data: { run } })
    }
  })

  it('is streamed once the run is open, whichever process opens it first', async () => {
    const headers = { accept: 'text/event-stream' }
    for (let round = 0; round < 5; round++) {
      const json = { run: `stream-race-${round}` }
      const said = await Promise.all(
        [first, second].map(async (service) => {
          const response = await at(service, '/v1/tools/whoami/call', { json, headers })
          return response.text()
        }),
      )
      for (const text of said) {
        expect(text.match(/event: \S+/g)).toEqual(['event: call-started', 'event: call-ended'])
        expect(text).toMatch(/"ok":true/)
      }
    }
  })

  it('is answered here when the other process has ended', async () => {
    const third = await serveMember(cluster.folder, 'third', { tools: [whoami] })
    await at(third, '/v1/tools/whoami/call', { json: { run: 'left' } })
    expect(await (await at(first, '/v1/tools/whoami/call', { json: { run: 'left' } })).json()).toMatchObject({
      ok: true,
    })
    expect(first.hub.cluster!.leaseOf('left')).toBeUndefined()
    await third.close()
    await eventually(async () => {
      const response = await at(first, '/v1/tools/whoami/call', { json: { run: 'left' } })
      expect(await response.json()).toMatchObject({ ok: true, data: { run: 'left' } })
    })
    expect(first.hub.cluster!.leaseOf('left')).toBeDefined()
  })

  it('counts its body before it is forwarded', async () => {
    const run = await runOfSecond('large')
    const response = await at(first, '/v1/tools/echo/call', { json: { run, input: { text: 'x'.repeat(10_000_001) } } })
    expect(response.status).toBe(413)
  })
})

describe('a process that has just started', () => {
  it('is reached although it had no address a moment ago', async () => {
    // A process reads the addresses of the others again at most once a second; this one has not yet.
    const third = await serveMember(cluster.folder, 'late', { tools: [whoami] })
    onTestFinished(() => third.close())
    const run = await pretend(second, (key) => (request, response) => {
      const { nonce } = key.openRequest(request.headers)!
      const headers = { 'content-type': 'application/json', 'x-tool-hub-body': sha256('{"ok":true}') }
      const signature = key.signResponse(nonce, 200, headers)
      response.writeHead(200, { ...headers, 'x-tool-hub-signature': signature }).end('{"ok":true}')
    })
    const id = run.replace('r-', 'p-')
    const known = newProcess(id, run.replace('r-', 'http://127.0.0.1:'))
    const { address: _, ...without } = known
    await second.store.processes.beat(without)
    await third.hub.cluster!.beat()
    await second.store.processes.beat(known)
    const call = () => at(third, '/v1/tools/whoami/call', { json: { run } }).then((response) => response.json())
    expect(await Promise.all([call(), call()])).toEqual([{ ok: true }, { ok: true }])
  })
})

it('one caller leaves room for the requests of others to the same process', async () => {
  const waiting: (() => void)[] = []
  const run = await pretend(second, (key) => (request, response) => {
    const { nonce, caller } = key.openRequest(request.headers)!
    const headers = { 'content-type': 'application/json', 'x-tool-hub-body': sha256('{"ok":true}') }
    const signature = key.signResponse(nonce, 200, headers)
    const end = () => response.writeHead(200, { ...headers, 'x-tool-hub-signature': signature }).end('{"ok":true}')
    if (caller?.name === 'token:greedy') waiting.push(end)
    else end()
  })
  const alive = newProcess(run.replace('r-', 'p-'), run.replace('r-', 'http://127.0.0.1:'))
  const beating = setInterval(() => second.store.processes.beat(alive), 1_000)
  onTestFinished(() => clearInterval(beating))
  const greedy = await cluster.newToken('greedy', ['call'])
  const call = (token?: string) => first.fetch('/v1/tools/whoami/call', { token, json: { run } })
  const held = Array.from({ length: 256 }, () => call(greedy.secret))
  await eventually(() => expect(waiting).toHaveLength(256))
  const refused = await call(greedy.secret)
  expect([refused.status, await refused.json()]).toMatchObject([503, { error: { code: 'RATE_LIMITED' } }])
  expect(await (await call()).json()).toEqual({ ok: true })
  for (const end of waiting.splice(0)) end()
  expect((await Promise.all(held)).every(({ status }) => status === 200)).toBe(true)
  const again = call(greedy.secret)
  await eventually(() => expect(waiting).toHaveLength(1))
  waiting[0]!()
  expect((await again).status).toBe(200)
})

describe('a process that is lost', () => {
  const stream =
    (key: ClusterKey): RequestListener =>
    (request, response) => {
      const { nonce } = key.openRequest(request.headers)!
      const headers = { 'content-type': 'text/event-stream', 'x-tool-hub-body': 'stream' }
      response.writeHead(200, { ...headers, 'x-tool-hub-signature': key.signResponse(nonce, 200, headers) })
      response.write('event: call-started\ndata: {}\n\n', () => response.destroy())
    }

  it('in the middle of a stream ends it with an error that says so', async () => {
    const run = await pretend(second, stream)
    const response = await at(first, '/v1/tools/hold/call', { json: { run }, headers: { accept: 'text/event-stream' } })
    const said = await response.text()
    expect(said).toMatch(/event: call-started/)
    expect(said).toMatch(/event: error\ndata: \{.*"code":"UPSTREAM_ERROR".*"retryable":true/)
  })

  it('in the middle of a stream of MCP answers all requests that wait for it', async () => {
    const run = await pretend(second, stream)
    const id = `${sha256(run.replace('r-', 'p-')).slice(0, 16)}.abc`
    const send = async (json: object | object[]) => {
      const headers = { accept: 'application/json, text/event-stream', 'mcp-session-id': id }
      const said = await (await at(first, '/mcp', { json, headers })).text()
      return [...said.matchAll(/^event: message\ndata: (.*)$/gm)].map(([, data]) => JSON.parse(data!))
    }
    await first.hub.cluster!.beat()
    const request = { jsonrpc: '2.0', method: 'tools/call', params: { name: 'hold' } }
    const error = { message: expect.stringMatching(/was lost/), data: { code: 'UPSTREAM_ERROR', retryable: true } }
    expect(await send({ ...request, id: 7 })).toMatchObject([{ jsonrpc: '2.0', id: 7, error }])
    expect(
      await send([
        { ...request, id: 'a' },
        { jsonrpc: '2.0', method: 'notifications/x' },
      ]),
    ).toMatchObject([{ id: 'a', error }])
    expect(await send([null, 'x'])).toEqual([])
  })

  it('before its answer leaves it open whether the call had an effect', async () => {
    const run = await pretend(second, () => (request) => request.socket.destroy())
    const response = await at(first, '/v1/tools/whoami/call', { json: { run } })
    expect([response.status, response.headers.get('retry-after')]).toEqual([502, '2'])
    expect(await response.json()).toMatchObject({
      error: { code: 'UPSTREAM_ERROR', retryable: true, message: expect.stringMatching(/was lost/) },
    })
  })

  it('before it was reached has executed nothing', async () => {
    const { store } = second
    await store.processes.beat(newProcess('p-gone', 'http://127.0.0.1:9'))
    await store.runStates.lease('r-gone', { owner: 'p-gone' })
    const response = await at(first, '/v1/tools/whoami/call', { json: { run: 'r-gone' } })
    expect([response.status, await response.json()]).toMatchObject([
      503,
      {
        error: {
          code: 'UPSTREAM_ERROR',
          retryable: true,
          fix: { hint: expect.stringMatching(/Nothing was executed/) },
        },
      },
    ])
  })
})

describe('a client that reads slowly', () => {
  it('slows down only its own answer', async () => {
    let written = 0
    const run = await pretend(second, (key) => (request, response) => {
      const { nonce } = key.openRequest(request.headers)!
      const headers = { 'content-type': 'text/event-stream', 'x-tool-hub-body': 'stream' }
      response.writeHead(200, { ...headers, 'x-tool-hub-signature': key.signResponse(nonce, 200, headers) })
      const chunk = Buffer.alloc(1_000_000, 'x')
      const write = () => {
        while (written < 200) {
          written++
          if (!response.write(chunk)) return void response.once('drain', write)
        }
      }
      write()
    })
    const { port } = new URL(first.url)
    const body = JSON.stringify({ run })
    const socket = connect(Number(port), '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    socket.pause()
    socket.write(
      `POST /v1/tools/hold/call HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${ada.secret}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    // It stops at what the buffers of two connections hold, however long the stream is.
    await eventually(() => expect(written).toBeGreaterThan(0))
    let before = -1
    await eventually(() => {
      const isStill = before === written
      before = written
      expect(isStill).toBe(true)
    })
    expect(written).toBeLessThan(100)
    const other = await at(first, '/v1/tools/whoami/call', { json: {} })
    expect(other.status).toBe(200)
  })
})
