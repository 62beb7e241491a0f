import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import type { IncomingMessage, RequestListener } from 'node:http'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool, type HubOptions } from '../../packages/library/src/index.ts'
import { fakeClock } from '../../packages/testing/src/fake-clock.ts'
import { eventually } from '../support/eventually.ts'
import { useLoopback } from '../support/loopback.ts'
import { LOOPBACK, realHub } from '../support/real-hub.ts'

const MB5 = 5 * 1024 * 1024
const local = useLoopback()
const url = (path = '/') => `http://127.0.0.1:${local.port}${path}`
const webHub = (options: HubOptions = {}) => realHub({ ...options, sandbox: { ...LOOPBACK, ...options.sandbox } })
const FETCH_TEXT = 'core/http.fetchText'
const FETCH_JSON = 'core/http.fetchJson'

/** Answers each path with its own listener. */
function answer(paths: Record<string, RequestListener>): void {
  local.answer = (request, response) => paths[new URL(request.url!, 'http://x').pathname]!(request, response)
}

describe('where the HTTP tools may go', () => {
  it('core/http.* reaches only allowedHosts', async () => {
    const { call } = realHub({ core: { allowedHosts: ['api.github.com', '*.openai.com'] } })
    const calls: [string, object][] = [
      [FETCH_TEXT, { url: 'http://example.org/' }],
      [FETCH_JSON, { url: 'http://example.org/' }],
      ['core/http.head', { url: 'http://example.org/' }],
      ['core/http.downloadFile', { url: 'http://example.org/', destPath: 'a.bin' }],
    ]
    for (const [tool, input] of calls)
      expect((await call(tool, input)).error, tool).toMatchObject({
        code: 'HTTP_DISALLOWED_HOST',
        message: expect.stringContaining('example.org'),
      })
    expect((await webHub().call(FETCH_TEXT, { url: url() })).data).toMatchObject({ text: 'ok' })
  })

  it('reserved ranges are refused even for an allowed host, until the owner opens them', async () => {
    const addresses = ['127.0.0.1', '169.254.1.1', '10.1.2.3', '192.168.1.1', '172.16.0.1', '172.31.255.255']
    const { call } = realHub({ sandbox: { network: addresses } })
    for (const address of addresses) {
      const { error } = await call(FETCH_TEXT, { url: `http://${address}:${local.port}/` })
      expect(error?.code, address).toBe('HTTP_DISALLOWED_HOST')
    }
    expect((await webHub().call(FETCH_TEXT, { url: url() })).ok).toBe(true)
  })

  it('no request and no redirect reaches the metadata service or loopback', async () => {
    let secret = 0
    answer({
      '/metadata': (_, response) =>
        response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data/' }).end(),
      '/name': (_, response) => response.writeHead(302, { location: `http://localhost:${local.port}/secret` }).end(),
      '/secret': (_, response) => response.end(String(++secret)),
    })
    const { call } = webHub({ sandbox: { network: ['*'] } })
    for (const target of ['http://169.254.169.254/', url('/metadata'), `http://[::1]:${local.port}/secret`])
      expect((await call(FETCH_TEXT, { url: target })).status, target).toBe('denied')
    const closed = realHub({ sandbox: { network: ['*'] } })
    for (const host of ['127.0.0.1', 'localhost', '2130706433', '[::ffff:127.0.0.1]'])
      expect((await closed.call(FETCH_TEXT, { url: `http://${host}:${local.port}/secret` })).ok, host).toBe(false)
    expect(secret).toBe(0)
  })

  it('allowedHosts takes wildcards such as *.github.com', async () => {
    const { hub } = realHub({ core: { allowedHosts: ['*.github.com'] } })
    const judged = async (host: string) => {
      const { effect, error } = await hub.explain(FETCH_TEXT, { url: `https://${host}/` })
      return error?.code ?? effect
    }
    expect(await judged('api.github.com')).toBe('allow')
    expect(await judged('raw.api.github.com')).toBe('allow')
    for (const host of ['github.com', 'notgithub.com', 'github.com.evil.org', 'api.github.com.evil.org'])
      expect(await judged(host), host).not.toBe('allow')
  })
})

describe('how the HTTP tools ask', () => {
  it('a request ends after 15 000 ms by default', async () => {
    const clock = fakeClock()
    const { hub } = webHub({ clock })
    let asked = 0
    local.answer = () => void asked++
    let error: { code: string; message: string } | undefined
    const call = hub.callDynamic(FETCH_TEXT, { url: url() }).then((result) => {
      error = result.error
    })
    await eventually(() => expect(asked).toBe(1))
    await clock.advance(14_999)
    expect(error).toBeUndefined()
    await clock.advance(2)
    await call
    expect(error).toMatchObject({ code: 'HTTP_TIMEOUT', message: expect.stringContaining('15000 ms') })
  })

  it('GET and HEAD are repeated twice, POST never, unless it has a key and a rule', async () => {
    const asked: string[] = []
    local.answer = (request, response) => {
      asked.push(request.method!)
      response.writeHead(503).end()
    }
    const count = async (tool: string, input: object, options: HubOptions = {}, key?: string) => {
      asked.length = 0
      await webHub(options).call(tool, { url: url(), ...input }, key === undefined ? {} : { idempotencyKey: key })
      return asked.length
    }
    const rule: HubOptions = { policy: [{ allow: 'send', limit: { retries: 2 } }] }
    expect(await count(FETCH_TEXT, {})).toBe(3)
    expect(await count('core/http.head', {})).toBe(3)
    expect(await count(FETCH_TEXT, { method: 'POST' })).toBe(1)
    expect(await count(FETCH_TEXT, { method: 'POST' }, {}, 'key-1')).toBe(1)
    expect(await count(FETCH_TEXT, { method: 'POST' }, rule)).toBe(1)
    expect(await count(FETCH_TEXT, { method: 'POST' }, rule, 'key-1')).toBe(3)
  })

  it('the key that the runtime forms counts for a POST, too, and a temporary failure is not its final result', async () => {
    const statuses = [503, 503, 503, 503, 201]
    const keys: unknown[] = []
    local.answer = (request, response) => {
      keys.push(request.headers['idempotency-key'])
      response.writeHead(statuses.shift() ?? 500).end()
    }
    const { call } = webHub({ policy: [{ allow: 'send', limit: { retries: 2 } }] })
    const send = async () => {
      const { data, meta } = await call(
        FETCH_TEXT,
        { url: url(), method: 'POST', body: 'order' },
        { requestId: 'request-1', taskId: 'task-1' },
      )
      return [(data as { status: number }).status, meta.cached ?? false]
    }
    expect(await send()).toEqual([503, false])
    expect(keys).toHaveLength(3)
    expect(await send()).toEqual([201, false])
    expect(await send()).toEqual([201, true])
    expect(keys).toHaveLength(5)
    expect(new Set(keys).size).toBe(1)
    expect(keys[0]).toEqual(expect.any(String))
    // Without a rule for retries the request is sent once, whatever the server answers.
    const { call: callOnce } = webHub({ policy: [{ allow: 'send' }] })
    const sendOnce = () =>
      callOnce(FETCH_TEXT, { url: url(), method: 'POST', body: 'x' }, { requestId: 'r', taskId: 't' })
    expect((await sendOnce()).data).toMatchObject({ status: 500 })
    expect((await sendOnce()).meta.cached).toBe(true)
    expect(keys).toHaveLength(6)
  })

  it('a tool that does more than one request is never executed twice by the same ids', async () => {
    const asked: string[] = []
    local.answer = (request, response) => {
      asked.push(request.url!)
      response.writeHead(request.url === '/first' ? 201 : 503).end()
    }
    const both = defineTool({
      name: 'demo.both',
      description: 'Sends two requests.',
      input: z.strictObject({}),
      output: z.strictObject({ status: z.int() }),
      capabilities: ['network', 'send'],
      targets: () => ({ network: [url('/first'), url('/second')], send: [url('/first'), url('/second')] }),
      async execute(_, ctx) {
        await ctx.fetch(url('/first'), { method: 'POST' })
        return { status: (await ctx.fetch(url('/second'), { method: 'POST' })).status }
      },
    })
    const { hub } = webHub({ tools: [both], policy: [{ allow: '*', limit: { retries: 1 } }] })
    const ids = { requestId: 'request-2', taskId: 'task-2' }
    for (const cached of [false, true]) {
      const { data, meta } = await hub.callDynamic('demo.both', {}, ids)
      expect([data, meta.cached ?? false]).toEqual([{ status: 503 }, cached])
    }
    expect(asked).toEqual(['/first', '/second', '/second'])
  })

  it('of a response over 5 MB the beginning comes back, marked, or the whole in a file', async () => {
    local.answer = (_, response) => response.end('x'.repeat(MB5 + 1))
    const cut = await webHub().call(FETCH_TEXT, { url: url() })
    expect(cut.data).toMatchObject({ bytes: MB5 })
    expect(cut.meta.truncated).toBeDefined()
    expect(cut.meta.notices?.join()).toContain(`first ${MB5} of ${MB5 + 1} bytes`)
    const stored = webHub()
    expect(await stored.data('core/http.downloadFile', { url: url(), destPath: 'whole.txt' })).toMatchObject({
      bytes: MB5 + 1,
    })
  })
})

describe('what the HTTP tools answer', () => {
  it('core/http.fetchText has the input and the output of the document', async () => {
    const seen: (string | undefined)[] = []
    local.answer = async (request, response) => {
      seen.push(request.method, request.headers['x-mine'] as string | undefined, await bodyOf(request))
      response.writeHead(201, { 'content-type': 'text/plain', etag: '"1"' }).end('grüße')
    }
    const { call, data } = webHub({ policy: [{ allow: 'send' }] })
    const got = await data(FETCH_TEXT, { url: url('/a') })
    expect(got).toEqual({
      url: url('/a'),
      status: 201,
      headers: expect.objectContaining({ etag: '"1"' }),
      text: 'grüße',
      bytes: 7,
    })
    await data(FETCH_TEXT, { url: url(), method: 'POST', headers: { 'X-Mine': 'yes' }, body: 'hello' })
    await data(FETCH_TEXT, { url: url(), method: 'POST', body: null })
    expect(seen).toEqual(['GET', undefined, '', 'POST', 'yes', 'hello', 'POST', undefined, ''])
    const careful = webHub()
    await careful.data(FETCH_TEXT, { url: url() })
    const unasked = await careful.call(FETCH_TEXT, { url: url(), method: 'POST', body: 'never sent' })
    expect(unasked.status).toBe('approval_required')
    expect(seen).not.toContain('never sent')
    for (const wrong of [
      { method: 'PUT' },
      { timeoutMs: 999 },
      { timeoutMs: 60_001 },
      { maxBytes: 1_023 },
      { maxBytes: 10_485_761 },
      { x: 1 },
      { headers: { a: 1 } },
    ])
      expect((await call(FETCH_TEXT, { url: url(), ...wrong })).error?.code, JSON.stringify(wrong)).toBe(
        'INPUT_SCHEMA_INVALID',
      )
    // The largest limits of the schema hold, to the byte.
    local.answer = (_, response) => response.end('x'.repeat(10_485_761))
    const largest = { url: url(), timeoutMs: 60_000, maxBytes: 10_485_760 }
    const cut = await call(FETCH_TEXT, largest)
    expect(cut.data).toMatchObject({ status: 200, bytes: 10_485_760 })
    expect(cut.meta.notices?.join()).toContain('first 10485760 of 10485761 bytes')
    local.answer = (_, response) => response.end('x'.repeat(10_485_760))
    expect((await call(FETCH_TEXT, largest)).meta.notices).toBeUndefined()
  })

  it('core/http.fetchJson gives json and status, or UPSTREAM_ERROR with a digest of the text', async () => {
    answer({
      '/object': (_, response) => response.setHeader('content-type', 'application/json').end('{"a":[1,2]}'),
      '/array': (_, response) => response.setHeader('content-type', 'text/plain').end('[1,2]'),
      '/page': (_, response) => response.setHeader('content-type', 'text/html').end('<h1>Sign in first</h1>'),
    })
    const { call, data } = webHub()
    expect(await data(FETCH_JSON, { url: url('/object') })).toMatchObject({ json: { a: [1, 2] }, status: 200 })
    expect(await data(FETCH_JSON, { url: url('/array') })).toMatchObject({ json: [1, 2], status: 200 })
    const page = await call(FETCH_JSON, { url: url('/page') })
    expect(page.error).toMatchObject({ code: 'UPSTREAM_ERROR', message: expect.stringContaining('Sign in first') })
  })

  it('core/http.downloadFile streams into the sandbox and replaces nothing by default', async () => {
    const content = Buffer.alloc(6_000_000, 'download')
    local.answer = (_, response) => response.end(content)
    const { call, data, read, root } = webHub()
    const sha256 = createHash('sha256').update(content).digest('hex')
    const input = { url: url('/data.bin'), destPath: 'in/data.bin' }
    expect(await data('core/http.downloadFile', input)).toEqual({ destPath: 'in/data.bin', bytes: 6_000_000, sha256 })
    expect(read('in/data.bin')).toBe(content.toString())
    expect((await call('core/http.downloadFile', input)).error?.code).toBe('CONFLICT')
    const outside = await call('core/http.downloadFile', { ...input, destPath: '../data.bin' })
    expect(outside.error?.code).toBe('PATH_OUTSIDE_SANDBOX')
    expect(existsSync(join(root, '../data.bin'))).toBe(false)
    for (const wrong of [
      { timeoutMs: 120_001 },
      { maxBytes: 104_857_601 },
      { maxBytes: 1_023 },
      { overwrite: 1 },
      { x: 1 },
    ])
      expect((await call('core/http.downloadFile', { ...input, ...wrong })).error?.code).toBe('INPUT_SCHEMA_INVALID')
    const small = await call('core/http.downloadFile', { url: url(), destPath: 'b.bin', maxBytes: 1_024 })
    expect(small.error?.code).toBe('HTTP_TOO_LARGE')
    expect(existsSync(join(root, 'b.bin'))).toBe(false)
    local.answer = (_, response) => response.writeHead(200, { 'content-length': '104857601' }).flushHeaders()
    const huge = await call('core/http.downloadFile', { url: url(), destPath: 'c.bin' })
    expect(huge.error).toMatchObject({ code: 'HTTP_TOO_LARGE', message: expect.stringContaining('104857600') })
  })

  it('core/http.head gives status and headers without the content', async () => {
    const methods: (string | undefined)[] = []
    local.answer = (request, response) => {
      methods.push(request.method)
      response.writeHead(200, { 'content-length': '123456', etag: '"v1"' }).end()
    }
    expect(await webHub().data('core/http.head', { url: url() })).toMatchObject({
      status: 200,
      headers: { 'content-length': '123456', etag: '"v1"' },
    })
    expect(methods).toEqual(['HEAD'])
  })

  it('a text over the limit is cut with a notice, or written to a file on demand', async () => {
    local.answer = (_, response) => response.end('page '.repeat(1_000))
    const input = { url: url(), maxBytes: 1_024 }
    const planA = await webHub().call(FETCH_TEXT, input)
    expect(planA.data).toMatchObject({ bytes: 1_024 })
    expect(planA.data).not.toHaveProperty('fileRef')
    expect(planA.meta.notices?.join()).toContain('first 1024 of 5000 bytes')
    const planB = webHub({ core: { enableAutoWriteLargeResponses: true } })
    const { fileRef } = await planB.data(FETCH_TEXT, input)
    expect(planB.read(fileRef)).toBe('page '.repeat(1_000))
  })

  it('no evidence holds a token, a cookie or an authorization header', async () => {
    local.answer = (_, response) =>
      response
        .writeHead(200, { 'content-type': 'application/json', 'set-cookie': 'sid=COOKIE-0123456789' })
        .end('{"access_token":"ANSWER-0123456789"}')
    const { call, record } = webHub({ secrets: { api: { value: 'HEADER-0123456789', hosts: ['127.0.0.1'] } } })
    const secret = { url: url('/a?api_key=QUERY-0123456789'), headers: { authorization: `Bearer \${secret:api}` } }
    const plain = { ...secret, headers: { authorization: 'Bearer PLAIN-0123456789', cookie: 'sid=SENT-0123456789' } }
    const signed = { url: url('/a?sig=SIGNED-0123456789') }
    for (const input of [secret, plain, signed])
      for (const tool of [FETCH_TEXT, FETCH_JSON]) {
        const { evidence } = await call(tool, input)
        expect(evidence).toHaveLength(1)
        expect(JSON.stringify(evidence)).not.toMatch(/[A-Z]+-0123456789/)
      }
    const lines = JSON.stringify([await record('events.jsonl'), await record('logs/tools.jsonl')])
    expect(lines).toContain(FETCH_JSON)
    expect(lines.match(/(QUERY|HEADER|PLAIN|SENT|COOKIE)-0123456789/g)).toBeNull()
  })
})

async function bodyOf(request: IncomingMessage): Promise<string> {
  request.setEncoding('utf8')
  let body = ''
  for await (const chunk of request) body += chunk
  return body
}
