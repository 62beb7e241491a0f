import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, normalize } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sourceFiles } from '../../../test/support/source-files.ts'
import { createClient } from './create-client.ts'

interface Asked {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: unknown
}

type Answer = (response: ServerResponse, asked: Asked) => void

const asked: Asked[] = []
let answers: Answer[] = []
let url = ''

const json =
  (value: unknown, status = 200): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
/** The answer to a caller that sends too many requests; `sent` is called when it is on its way. */
const tooEarly =
  (seconds: string | undefined, sent = () => {}): Answer =>
  (response) => {
    const error = { code: 'RATE_LIMITED', message: 'Too many requests.', retryable: true }
    const headers = { 'content-type': 'application/json', ...(seconds !== undefined && { 'retry-after': seconds }) }
    response.writeHead(429, headers).end(JSON.stringify({ error }), sent)
  }
const sse =
  (text: string, end: 'end' | 'cut' | 'stay' = 'end'): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(text, () => {
      if (end === 'end') response.end()
      if (end === 'cut') response.destroy()
    })
  }

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString()
  const { method, url = '', headers } = request
  const one = { method: method!, url, headers, body: text === '' ? undefined : JSON.parse(text) }
  asked.push(one)
  const answer = answers.shift() ?? json({ error: { code: 'NOT_FOUND', message: 'No answer is left.' } }, 404)
  answer(response, one)
})

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
beforeEach(() => {
  asked.length = 0
  answers = []
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const client = () => createClient({ url: `${url}/`, token: 'secret' })

describe('HubClient', () => {
  it('calls a tool with its options and its token', async () => {
    answers = [json({ ok: true, status: 'ok', data: 3 })]
    const result = await client().call('core/a b', { n: 1 }, { purpose: 'why', idempotencyKey: 'k' })
    expect(result).toMatchObject({ ok: true, data: 3 })
    expect(asked[0]).toMatchObject({
      method: 'POST',
      url: '/v1/tools/core%2Fa%20b/call',
      body: { input: { n: 1 }, purpose: 'why', idempotencyKey: 'k' },
    })
    expect(asked[0]!.headers).toMatchObject({ authorization: 'Bearer secret', 'content-type': 'application/json' })
  })

  it('repeats a request that came too early, as soon as the service says', async () => {
    const early = tooEarly('1')
    answers = [early, json({ ok: true, status: 'ok', data: 3 })]
    expect(await client().call('x', { n: 1 })).toMatchObject({ ok: true, data: 3 })
    expect(asked.map(({ url, body }) => [url, body])).toEqual([
      ['/v1/tools/x/call', { input: { n: 1 } }],
      ['/v1/tools/x/call', { input: { n: 1 } }],
    ])
  })

  it.each([['6'], ['3600'], ['soon'], ['-1'], [undefined]])(
    'throws RATE_LIMITED immediately if the service says to wait %s',
    async (seconds) => {
      answers = [tooEarly(seconds)]
      await expect(client().call('x', {})).rejects.toMatchObject({ code: 'RATE_LIMITED', status: 429, retryable: true })
      expect(asked).toHaveLength(1)
    },
  )

  it('gives up when all waiting together would take long, and stops waiting when its signal aborts', async () => {
    answers = [tooEarly('1'), tooEarly('5')]
    await expect(client().call('x', {})).rejects.toMatchObject({ code: 'RATE_LIMITED' })
    expect(asked).toHaveLength(2)
    const controller = new AbortController()
    answers = [tooEarly('5', () => setImmediate(() => controller.abort(new Error('no longer needed'))))]
    await expect(client().call('x', {}, { signal: controller.signal })).rejects.toThrow('no longer needed')
    expect(asked).toHaveLength(3)
  })

  it('throws what the service refuses, also when a proxy says it in its own words', async () => {
    const error = { code: 'FORBIDDEN', message: 'No.', retryable: false, fix: { hint: 'Ask.' } }
    answers = [
      json({ error }, 403),
      (response) => response.writeHead(502).end('<html>bad gateway'),
      (response) => response.destroy(),
    ]
    await expect(client().health()).rejects.toMatchObject({ name: 'ApiError', status: 403, ...error })
    await expect(client().health()).rejects.toMatchObject({ code: 'UPSTREAM_ERROR', status: 502, retryable: true })
    await expect(client().health()).rejects.toMatchObject({ code: 'UPSTREAM_ERROR', status: 0, retryable: true })
    await expect(client().call('x', {}, { signal: AbortSignal.abort('no') })).rejects.toBe('no')
  })

  it('streams a call, whichever way its bytes are cut', async () => {
    const text =
      'event: call-started\ndata: {"type":"call-started"}\n\n: still here\n\nevent: call-ended\ndata: {"type":"call-ended","é":1}\n\n'
    const bytes = Buffer.from(text)
    answers = [
      async (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        for (let at = 0; at < bytes.length; at += 5) {
          response.write(bytes.subarray(at, at + 5))
          await new Promise(setImmediate)
        }
        response.end()
      },
    ]
    const events: unknown[] = []
    for await (const event of client().stream('x', {})) events.push(event)
    expect(events).toEqual([{ type: 'call-started' }, { type: 'call-ended', é: 1 }])
    expect(asked[0]!.headers.accept).toBe('text/event-stream')
  })

  it('throws the error with which the stream of a call breaks off', async () => {
    const error = { code: 'UPSTREAM_ERROR', message: 'The process was lost.', retryable: true, fix: { hint: 'Again.' } }
    answers = [sse(`event: call-started\ndata: {}\n\nevent: error\ndata: ${JSON.stringify({ error })}\n\n`, 'cut')]
    const events = client().stream('x', {})
    expect((await events.next()).done).toBe(false)
    await expect(events.next()).rejects.toMatchObject({ name: 'ApiError', ...error })
  })

  it('follows events, and resumes after the last one when the connection drops', async () => {
    answers = [
      sse('id: a-1\nevent: policy-changed\ndata: {"type":"policy-changed"}\n\n', 'cut'),
      sse('id: a-2\nevent: tools-changed\ndata: {"type":"tools-changed"}\n\n', 'stay'),
    ]
    const events: unknown[] = []
    const controller = new AbortController()
    for await (const event of client().events({ types: ['policy-changed'], signal: controller.signal })) {
      events.push(event)
      if (events.length === 2) controller.abort()
    }
    expect(events).toEqual([
      { type: 'policy-changed', id: 'a-1' },
      { type: 'tools-changed', id: 'a-2' },
    ])
    expect(asked.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, 'a-1'])
    expect(asked[0]!.url).toBe('/v1/events?types=policy-changed')
  })

  it('does not follow what it may not', async () => {
    answers = [json({ error: { code: 'FORBIDDEN', message: 'No.', retryable: false } }, 403)]
    await expect(client().events().next()).rejects.toMatchObject({ code: 'FORBIDDEN' })
  })

  it('reads a part of an artifact', async () => {
    answers = [(response) => response.writeHead(206).end(Buffer.from([1, 2, 3]))]
    const bytes = await client().artifact('artifact:abc', { run: 'r1', part: { from: 2, to: 4 } })
    expect([...bytes]).toEqual([1, 2, 3])
    expect(asked[0]).toMatchObject({ url: '/v1/artifacts/abc?run=r1', headers: { range: 'bytes=2-4' } })
  })

  it('proves with every change that a page of the service asks, where a cookie says who', async () => {
    const page = createClient({ url })
    answers = [
      json({ principal: { name: 'owner', scopes: [] }, csrf: 'word' }, 201),
      json({ won: true }),
      (response) => response.writeHead(204).end(),
      json({ csrf: 'other' }),
      (response) => response.writeHead(204).end(),
    ]
    await page.signIn('secret')
    expect(await page.approvals.answer('x/1', { decision: 'allow' })).toEqual({ won: true })
    await page.signOut()
    await page.grants.revoke('g1')
    expect(asked.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST /v1/sessions',
      'POST /v1/approvals/x%2F1',
      'DELETE /v1/sessions',
      'GET /v1/me',
      'DELETE /v1/grants/g1',
    ])
    const words = asked.map(({ headers }) => headers['x-tool-hub-csrf'])
    expect(words).toEqual([undefined, 'word', 'word', undefined, 'other'])
    expect(asked.every(({ headers }) => headers.authorization === undefined)).toBe(true)
  })

  it('asks for every kind of thing where it is', async () => {
    const { calls, runs, approvals, questions, grants, policy, audit, principals, tokens, ...rest } = { ...client() }
    // The features, in the order of packages/library/src/features.ts, then what is not part of a resource.
    const features = ['memory', 'agents', 'inbox', 'schedules', 'canvases', 'scripts']
    expect(Object.keys(rest)).toEqual([...features, 'cluster', 'me', 'health'])
    answers = Array.from({ length: 22 }, () =>
      json({ tools: 1, lines: 2, changes: 3, approvals: 4, questions: 5, principals: 6 }),
    )
    await calls.list({ tool: 'x', limit: 2 })
    await calls.get('c1')
    await runs.list()
    await runs.get('r1')
    expect(await runs.lines('r1', { after: 3 })).toBe(2)
    await new Response(await runs.export('r1')).text()
    expect(await runs.changes('r1')).toBe(3)
    await runs.undo('r1', { dryRun: true })
    await runs.remove('r1')
    expect(await approvals.list({ state: 'all' })).toBe(4)
    await approvals.get('a1')
    expect(await questions.list()).toBe(5)
    await questions.answer('q1', { answer: 'yes' })
    await grants.list()
    await policy.get()
    await policy.save({ yaml: '', version: '1' })
    await policy.test({ yaml: '' })
    await audit.verify({ run: 'r1' })
    expect(await principals.list()).toBe(6)
    await tokens.create({ name: 'ci', scopes: ['call'] })
    await tokens.rotate('t1', { overlapMs: 0 })
    expect(await client().tools({ hidden: true })).toBe(1)
    expect(asked.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET /v1/calls?tool=x&limit=2',
      'GET /v1/calls/c1',
      'GET /v1/runs',
      'GET /v1/runs/r1',
      'GET /v1/runs/r1/lines?after=3',
      'GET /v1/runs/r1/export',
      'GET /v1/runs/r1/changes',
      'POST /v1/runs/r1/undo',
      'DELETE /v1/runs/r1',
      'GET /v1/approvals?state=all',
      'GET /v1/approvals/a1',
      'GET /v1/questions',
      'POST /v1/questions/q1',
      'GET /v1/grants',
      'GET /v1/policy',
      'PUT /v1/policy',
      'POST /v1/policy/test',
      'GET /v1/audit/verify?run=r1',
      'GET /v1/principals',
      'POST /v1/tokens',
      'POST /v1/tokens/t1/rotate',
      'GET /v1/tools?hidden=true',
    ])
  })

  it('needs an address outside of a page', () => {
    expect(() => createClient({ token: 'x' })).toThrow('needs url')
  })

  it('loads nothing but itself, so that it runs in a browser', () => {
    const ofFeatures = /^src\/features\/(\w+\/client|generated\/client\/index)\.ts$/
    const own = sourceFiles('packages/client/src').filter((file) => !/\.test(-d)?\.ts$/.test(file))
    const files = [...own, ...sourceFiles('packages/features/src').filter((file) => ofFeatures.test(file))]
    const loaded = files.flatMap((file) => {
      const statements = readFileSync(file, 'utf8').matchAll(/^(?:import|export) (?!type )[^;]*? from '([^']+)'/gm)
      return Array.from(statements, ([, from]) => (from!.startsWith('.') ? normalize(join(file, '..', from!)) : from!))
    })
    expect(loaded.length).toBeGreaterThan(10)
    expect(loaded.filter((path) => !path.startsWith('packages/client/src/') && !ofFeatures.test(path))).toEqual([])
  })
})

describe('what agents have beside tools', () => {
  it('is asked for by its id, whatever that is', async () => {
    answers = [json({ agents: [] }), json({ ended: true }), json({}), json({ read: 1, unread: 0 }), json({ runs: [] })]
    const { agents, memory, inbox, schedules } = client()
    expect(await agents.list({ state: 'running' })).toEqual({ agents: [] })
    await agents.end('a/b', 'enough')
    await memory.promote('note 1', { scope: 'shared' })
    await inbox.read(['m1'])
    await schedules.runs('../x', { limit: 2 })
    expect(asked.map(({ method, url, body }) => [method, url, body])).toEqual([
      ['GET', '/v1/agents?state=running', undefined],
      ['POST', '/v1/agents/a%2Fb/end', { reason: 'enough' }],
      ['POST', '/v1/memory/candidates/note%201/promote', { scope: 'shared' }],
      ['POST', '/v1/inbox/read', { ids: ['m1'] }],
      ['GET', '/v1/schedules/..%2Fx/runs?limit=2', undefined],
    ])
  })
})
