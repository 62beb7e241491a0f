import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { PUBLIC, useLoopback } from '../../../../test/support/loopback.ts'
import { CERTIFICATE, KEY } from '../../../../test/support/secure-test.ts'
import type { WebFetchOptions } from '../../../core/src/source.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { createWebFetch, type OpenWebFetch, type WebFetchGuard, type WebFetchTimes } from './web-fetch.ts'

const web = useLoopback()
const open: OpenWebFetch[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((fetch) => fetch.close()))
})

/** A fetch for a service that dials for real unless `guard.dial` says otherwise. */
function fetchFor(options: Partial<WebFetchOptions & WebFetchTimes> = {}, guard: Partial<WebFetchGuard> = {}) {
  const fetch = createWebFetch({ origins: [origin()], ...options }, { privateRanges: [], userAgent: 'hub/1', ...guard })
  open.push(fetch)
  return fetch
}

const origin = () => `http://127.0.0.1:${web.port}`
const code = (expected: string) => expect.objectContaining({ code: expected })
/** Every name is public and every connection ends at the server of the test. */
const pretend = (): Partial<WebFetchGuard> => ({
  resolve: async () => [PUBLIC],
  dial: (address) => web.dial(web.port, address),
})

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

interface Echo {
  readonly headers: Record<string, string>
  readonly body: string
}

/** Answers with what was asked. */
async function echo(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method, url, headers } = request
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ method, url, headers, body: await bodyOf(request) }))
}

describe('a service that the owner named', () => {
  it('is followed where it sends the caller to, unless the caller wants to see that', async () => {
    web.answer = (request, response) => {
      if (request.url === '/old') return void response.writeHead(307, { location: '/new' }).end()
      response.end(request.url)
    }
    const fetch = fetchFor()
    const followed = await fetch(`${origin()}/old`)
    expect([followed.status, followed.redirected, await followed.text()]).toEqual([200, true, '/new'])
    expect((await fetch(`${origin()}/old`, { redirect: 'manual' })).status).toBe(307)
    await expect(fetch(`${origin()}/old`, { redirect: 'error' })).rejects.toThrow()
  })

  it('is asked like by any fetch', async () => {
    web.answer = echo
    const response = await fetchFor()(new URL(`${origin()}/mcp?a=1#b`), {
      method: 'POST',
      headers: new Headers({ Authorization: 'Bearer t', 'Mcp-Session-Id': 's' }),
      body: '{"jsonrpc":"2.0"}',
    })
    expect(response).toBeInstanceOf(Response)
    expect(response).toMatchObject({ status: 200, ok: true, url: `${origin()}/mcp?a=1`, redirected: false })
    expect(response.headers.get('Content-Type')).toBe('application/json')
    expect(await response.json()).toMatchObject({
      method: 'POST',
      url: '/mcp?a=1',
      headers: {
        host: `127.0.0.1:${web.port}`,
        'user-agent': 'hub/1',
        authorization: 'Bearer t',
        'mcp-session-id': 's',
        'content-type': 'text/plain;charset=UTF-8',
        'accept-encoding': 'identity',
      },
      body: '{"jsonrpc":"2.0"}',
    })
  })

  it.each([
    ['a form', new URLSearchParams({ grant_type: 'x', a: 'ä' }), 'grant_type=x&a=%C3%A4', /^application\/x-www-form/],
    ['bytes', new TextEncoder().encode('ä'), 'ä', undefined],
    ['nothing', undefined, '', undefined],
  ])('takes %s as a body', async (_, body, sent, type) => {
    web.answer = echo
    const answer = (await (await fetchFor()(origin(), { method: 'POST', body })).json()) as Echo
    expect(answer.body).toBe(sent)
    if (type) expect(answer.headers['content-type']).toMatch(type)
    else expect(answer.headers).not.toHaveProperty('content-type')
  })

  it.each([
    ['a body of another kind', { method: 'POST', body: new FormData() }],
    ['a header of the connection', { headers: { host: 'evil.example' } }],
    ['a header that is none', { headers: { 'a b': 'c' } }],
    ['a method that is none', { method: 'BREW' }],
    ['a redirect mode that is none', { redirect: 'perhaps' as RequestInit['redirect'] }],
  ])('is not sent %s', async (_, init) => {
    await expect(fetchFor()(origin(), init)).rejects.toThrow(code('INPUT_SCHEMA_INVALID'))
  })

  it.each([204, 205, 304])('may answer %i, which has no body', async (status) => {
    web.answer = (_, response) => response.writeHead(status).end()
    expect(await fetchFor()(origin())).toMatchObject({ status, body: null })
  })

  it('is reached over one connection, call after call', async () => {
    web.answer = echo
    const fetch = fetchFor({ origins: ['http://mcp.example'] }, pretend())
    for (const body of ['1', '2', '3']) await (await fetch('http://mcp.example/', { method: 'POST', body })).text()
    expect(web.dialled).toEqual([PUBLIC])
  })

  it('is asked for by name once in a while only, and again when it has moved', async () => {
    const clock = fakeClock()
    const resolve = vi.fn(async () => [PUBLIC])
    const fetch = fetchFor({ origins: ['http://mcp.example'] }, { ...pretend(), resolve, clock })
    await (await fetch('http://mcp.example/')).text()
    await (await fetch('http://mcp.example/')).text()
    expect(resolve).toHaveBeenCalledTimes(1)
    await clock.advance(60_000)
    await (await fetch('http://mcp.example/')).text()
    expect(resolve).toHaveBeenCalledTimes(2)
  })

  it('is reached over TLS, and only with a certificate of its name', async () => {
    const server = createServer({ key: KEY, cert: CERTIFICATE }, (_, response) => response.end('safe'))
    onTestFinished(() => void server.close())
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    const guard = { ca: CERTIFICATE, resolve: async () => [PUBLIC], dial: () => web.dial(port) }
    const fetch = fetchFor({ origins: ['https://secure.test', 'https://other.test'] }, guard)
    expect(await (await fetch('https://secure.test/')).text()).toBe('safe')
    await expect(fetch('https://other.test/')).rejects.toThrow(code('UPSTREAM_ERROR'))
  })
})

describe('a streamed answer', () => {
  /** A server that sends what the test says, when it says it. */
  const stream = () =>
    new Promise<ServerResponse>((resolve) => {
      web.answer = (_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
        resolve(response)
      }
    })
  const read = async (reader: ReadableStreamDefaultReader<Uint8Array>) => {
    const { value } = await reader.read()
    return new TextDecoder().decode(value)
  }

  it('comes chunk by chunk, however long it lasts', async () => {
    const clock = fakeClock()
    const server = stream()
    const response = await fetchFor({}, { clock })(origin(), { headers: { accept: 'text/event-stream' } })
    const reader = response.body!.getReader()
    for (const event of ['data: 1\n\n', 'data: 2\n\n']) {
      ;(await server).write(event)
      expect(await read(reader)).toBe(event)
      await clock.advance(3_600_000)
    }
    ;(await server).end()
    expect(await reader.read()).toEqual({ done: true, value: undefined })
  })

  it('ends in the middle with the reason of the signal, and so does its connection', async () => {
    const server = stream()
    const controller = new AbortController()
    const response = await fetchFor()(origin(), { signal: controller.signal })
    const reader = response.body!.getReader()
    ;(await server).write('data: 1\n\n')
    await read(reader)
    const reading = reader.read()
    const gone = once(await server, 'close')
    const reason = new Error('enough')
    controller.abort(reason)
    await expect(reading).rejects.toBe(reason)
    await gone
  })

  it('can be given up by its reader, and so is its connection', async () => {
    const server = stream()
    const response = await fetchFor()(origin())
    const gone = once(await server, 'close')
    await response.body!.cancel()
    await gone
  })

  it('fails when the server goes away', async () => {
    const server = stream()
    const response = await fetchFor()(origin())
    ;(await server).write('data: 1\n\n')
    const reading = response.text()
    ;(await server).destroy()
    await expect(reading).rejects.toThrow(code('UPSTREAM_ERROR'))
  })

  it('ends when the fetch is closed, which then asks nothing any more', async () => {
    const server = stream()
    const fetch = fetchFor()
    const response = await fetch(origin())
    const reading = response.text()
    const gone = once(await server, 'close')
    await fetch.close()
    await expect(reading).rejects.toThrow(code('ABORTED'))
    await gone
    await expect(fetch(origin())).rejects.toThrow(code('ABORTED'))
  })
})

describe('limits', () => {
  it('waits half a minute for headers, or as long as was said', async () => {
    web.answer = () => {}
    const clock = fakeClock()
    const asking = fetchFor({}, { clock })(origin())
    const outcome = expect(asking).rejects.toThrow(/did not finish in 30000 ms/)
    await expect.poll(() => clock.waiting).toBeGreaterThan(0)
    await clock.advance(30_001)
    await outcome
    await expect(fetchFor({ headersTimeoutMs: 20 })(origin())).rejects.toThrow(code('HTTP_TIMEOUT'))
  })

  it('is stopped by its signal while it waits, and before it begins', async () => {
    const arrived = new Promise<void>((resolve) => {
      web.answer = () => resolve()
    })
    const controller = new AbortController()
    const asking = fetchFor()(origin(), { signal: controller.signal })
    await arrived
    controller.abort()
    await expect(asking).rejects.toBe(controller.signal.reason)
    await expect(fetchFor()(origin(), { signal: controller.signal })).rejects.toHaveProperty('name', 'AbortError')
  })

  it('takes no headers without end', async () => {
    web.answer = (_, response) => response.setHeader('x', 'a'.repeat(70_000)).end()
    await expect(fetchFor()(origin())).rejects.toThrow(code('HTTP_TOO_LARGE'))
  })

  it('takes nothing compressed, which it did not ask for', async () => {
    web.answer = (_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(10_000_000)))
    }
    await expect(fetchFor()(origin())).rejects.toThrow(/as "gzip", unasked/)
  })

  it('says that nobody is there', async () => {
    const free = createServer()
    await once(free.listen(0, '127.0.0.1'), 'listening')
    const { port } = free.address() as AddressInfo
    await new Promise((resolve) => free.close(resolve))
    const nowhere = `http://127.0.0.1:${port}`
    await expect(fetchFor({ origins: [nowhere] })(nowhere)).rejects.toThrow(code('UPSTREAM_ERROR'))
  })

  it('serves many concurrent requests under one signal, without a warning', async () => {
    const warned = vi.spyOn(process, 'emitWarning')
    const { signal } = new AbortController()
    const fetch = fetchFor()
    const texts = await Promise.all(Array.from({ length: 30 }, async () => (await fetch(origin(), { signal })).text()))
    expect(texts.every((text) => text === 'ok')).toBe(true)
    expect(warned).not.toHaveBeenCalled()
    warned.mockRestore()
  })
})
