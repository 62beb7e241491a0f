import { connect as connectSocket } from 'node:net'
import { OAuthError, OAuthErrorCode } from '@modelcontextprotocol/server'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { useServedHubs } from '../../../../../test/support/mcp-served.ts'
import { defineTool } from '../../../../core/src/tool.ts'
import { fakeClock } from '../../../../testing/src/fake-clock.ts'
import { testHub } from '../../../../testing/src/tool-contract.ts'
import type { McpFetchOptions } from '../options.ts'
import { createMcpFetchHandler, serveMcp } from '../serve.ts'

const { serve, connect } = useServedHubs()

const whoami = defineTool({
  name: 'whoami',
  description: 'Says which run this is.',
  input: z.strictObject({}),
  output: z.strictObject({ run: z.string() }),
  execute: (_, ctx) => ({ run: ctx.run }),
})

let closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.reverse()) await close()
  closers = []
})

async function handlerOf(options: McpFetchOptions = {}) {
  const hub = testHub({ tools: [whoami] })
  const handler = await createMcpFetchHandler(hub, options)
  closers.push(
    () => hub.close(),
    () => handler.close(),
  )
  return handler
}

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
}

function post(body: unknown, headers: Record<string, string> = {}, url = 'http://localhost:3001/mcp'): Request {
  return new Request(url, {
    method: 'POST',
    headers: {
      host: new URL(url).host,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

function modernCall(name: string, headers: Record<string, string> = {}): Request {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {}, _meta } }
  return post(body, { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name, ...headers })
}

async function runOf(response: Response): Promise<string> {
  const { result } = (await response.json()) as { result: { structuredContent: { run: string } } }
  return result.structuredContent.run
}

describe('who may call', () => {
  it.each([
    ['a foreign Host', { host: 'evil.example:3001' }],
    ['a foreign Origin', { origin: 'https://evil.example' }],
    ['an opaque Origin', { origin: 'null' }],
  ])('is nobody with %s', async (_, headers) => {
    const handler = await handlerOf()
    for (const request of [post(INITIALIZE, headers), modernCall('whoami', headers)]) {
      expect((await handler.fetch(request)).status).toBe(403)
    }
  })

  it('accepts requests by a name that the owner allowed, from a page that the owner allowed', async () => {
    const handler = await handlerOf({ allowedHosts: ['tools.example.org'], allowedOrigins: ['app.example.org'] })
    const headers = { host: 'tools.example.org', origin: 'https://app.example.org' }
    expect((await handler.fetch(modernCall('whoami', headers))).status).toBe(200)
  })

  it('is only who has the token, when there is one', async () => {
    const token = 'a-token-that-nobody-guesses'
    const handler = await handlerOf({ auth: { token } })
    for (const authorization of ['', 'Bearer', `Bearer ${token}x`, `Bearer ${token.slice(1)}`, `Basic ${token}`]) {
      const response = await handler.fetch(modernCall('whoami', authorization ? { authorization } : {}))
      expect(response.status).toBe(401)
      expect(response.headers.get('www-authenticate')).toMatch(/^Bearer error="invalid_token"/)
    }
    const headers = { authorization: `Bearer ${token}` }
    expect((await handler.fetch(modernCall('whoami', headers))).status).toBe(200)
    expect((await handler.fetch(post(INITIALIZE, headers))).status).toBe(200)
  })

  it('is who an authorization server says; each has a run of its own, and others learn where to ask', async () => {
    const resource = 'http://localhost:3001/mcp'
    const issuer = 'https://login.example.org'
    const handler = await handlerOf({
      auth: {
        resource,
        oauthMetadata: {
          issuer,
          authorization_endpoint: `${issuer}/a`,
          token_endpoint: `${issuer}/t`,
          response_types_supported: ['code'],
        },
        requiredScopes: ['mcp'],
        verifier: {
          async verifyAccessToken(token) {
            if (token === 'forged') throw new OAuthError(OAuthErrorCode.InvalidToken, 'Unknown token')
            const scopes = token === 'weak' ? [] : ['mcp']
            return {
              token,
              clientId: token,
              scopes,
              expiresAt: Date.now() / 1_000 + 60,
              resource: new URL(token === 'astray' ? 'https://other.example' : resource),
            }
          },
        },
      },
    })
    const call = (token: string) => handler.fetch(modernCall('whoami', { authorization: `Bearer ${token}` }))
    const refused = await call('forged')
    expect(refused.status).toBe(401)
    const about = /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate')!)![1]!
    const metadata = await handler.fetch(new Request(about, { headers: { host: 'localhost:3001' } }))
    expect(await metadata.json()).toMatchObject({ resource, authorization_servers: [issuer] })
    expect((await call('weak')).status).toBe(403)
    expect((await call('astray')).status).toBe(401)
    const [anna, again, ben] = [
      await runOf(await call('anna')),
      await runOf(await call('anna')),
      await runOf(await call('ben')),
    ]
    expect(anna).toBe(again)
    expect(anna).not.toBe(ben)
  })

  it('cannot use the session of another', async () => {
    const handler = await handlerOf()
    const as = (clientId: string) => ({ authInfo: { token: '', clientId, scopes: [] } })
    const opened = await handler.fetch(post(INITIALIZE), as('anna'))
    const session = opened.headers.get('mcp-session-id')!
    const ping = () => post({ jsonrpc: '2.0', id: 2, method: 'ping' }, { 'mcp-session-id': session })
    expect((await handler.fetch(ping(), as('ben'))).status).toBe(404)
    expect((await handler.fetch(ping(), as('anna'))).status).toBe(200)
  })

  it('is two callers, however alike their names are put together', async () => {
    const handler = await handlerOf()
    const as = (clientId: string, sub: string) => ({ authInfo: { token: '', clientId, scopes: [], extra: { sub } } })
    const opened = await handler.fetch(post(INITIALIZE), as('a/b', 'c'))
    const ping = post(
      { jsonrpc: '2.0', id: 2, method: 'ping' },
      { 'mcp-session-id': opened.headers.get('mcp-session-id')! },
    )
    expect((await handler.fetch(ping, as('a', 'b/c'))).status).toBe(404)
  })

  it('must be said before a server can be reached from other machines', async () => {
    const hub = testHub()
    closers.push(() => hub.close())
    for (const host of ['0.0.0.0', '::', '192.168.1.7', 'tools.example.org']) {
      await expect(serveMcp(hub, { host })).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    }
    await expect(serveMcp(hub, { auth: { token: 'short' } })).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    const server = await serveMcp(hub, { host: '0.0.0.0', auth: { token: 'a-token-that-nobody-guesses' } })
    await server.close()
  })
})

describe('a request', () => {
  it('is refused when it is too large, no JSON, or elsewhere', async () => {
    const handler = await handlerOf({ maxBodyBytes: 1_000 })
    expect((await handler.fetch(post({ text: 'x'.repeat(2_000) }))).status).toBe(413)
    expect((await handler.fetch(post('{'))).status).toBe(400)
    expect((await handler.fetch(post(INITIALIZE, { 'content-type': 'text/plain' }))).status).toBe(415)
    expect((await handler.fetch(post(INITIALIZE, {}, 'http://localhost:3001/other'))).status).toBe(404)
    const get = new Request('http://localhost:3001/mcp', { headers: { host: 'localhost:3001' } })
    expect((await handler.fetch(get)).status).toBe(405)
  })

  it('of too many keys and elements is refused before it is parsed', async () => {
    const handler = await handlerOf({ maxBodyEntries: 100 })
    const response = await handler.fetch(post(`[${'1,'.repeat(5_000)}`))
    expect(response.status).toBe(413)
    expect(await response.text()).toContain('over 100 keys and elements')
  })

  it('of more than 4 MB never reaches a tool', async () => {
    const { url } = await serve({ tools: [whoami] })
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: 'x'.repeat(4 * 1024 * 1024 + 1),
    })
    expect(response.status).toBe(413)
  })

  it.each([
    ['a Host that is none', 'POST /mcp HTTP/1.1\r\nHost: a b:c'],
    ['a method of proxies', 'TRACE /mcp HTTP/1.1\r\nHost: localhost'],
  ])('with %s is a bad request', async (_, head) => {
    const errors: Error[] = []
    const { url } = await serve({ tools: [whoami] }, { onError: (error) => errors.push(error) })
    const socket = connectSocket(Number(url.port), '127.0.0.1')
    socket.write(`${head}\r\nContent-Length: 0\r\n\r\n`)
    const said: Buffer = await new Promise((resolve) => socket.once('data', resolve))
    socket.destroy()
    expect(String(said)).toMatch(/^HTTP\/1\.1 400 /)
    expect(errors).toEqual([])
  })

  it('for a method that does not exist is answered as HTTP says it', async () => {
    const handler = await handlerOf()
    const request = modernCall('whoami', { 'mcp-method': 'tools/sell' })
    const body = (await request.clone().json()) as object as { method: string }
    const unknown = post({ ...body, method: 'tools/sell' }, Object.fromEntries(request.headers))
    const response = await handler.fetch(unknown)
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({ error: { code: -32601 } })
  })

  it('of the legacy era needs a session that is open', async () => {
    const handler = await handlerOf()
    const ping = { jsonrpc: '2.0', id: 2, method: 'ping' }
    expect((await handler.fetch(post(ping))).status).toBe(400)
    expect((await handler.fetch(post(ping, { 'mcp-session-id': 'made-up' }))).status).toBe(404)
  })
})

describe('sessions', () => {
  it('end when they were idle for long, and the idlest makes room', async () => {
    const clock = fakeClock()
    const handler = await handlerOf({ clock, maxSessions: 2, sessionIdleMs: 60_000 })
    const open = async () => (await handler.fetch(post(INITIALIZE))).headers.get('mcp-session-id')!
    const ping = async (session: string) =>
      (await handler.fetch(post({ jsonrpc: '2.0', id: 2, method: 'ping' }, { 'mcp-session-id': session }))).status
    const first = await open()
    await clock.advance(1_000)
    const second = await open()
    await clock.advance(1_000)
    expect(await ping(first)).toBe(200)
    const third = await open()
    expect([await ping(first), await ping(second), await ping(third)]).toEqual([200, 404, 200])
    await clock.advance(80_000)
    expect([await ping(first), await ping(third)]).toEqual([404, 404])
  })

  it('of one who has many make room for others, and its own for more of its own', async () => {
    const clock = fakeClock()
    const handler = await handlerOf({ clock, maxSessions: 4 })
    const as = (clientId: string) => ({ authInfo: { token: '', clientId, scopes: [] } })
    const open = async (who: string) => {
      await clock.advance(1_000)
      return (await handler.fetch(post(INITIALIZE), as(who))).headers.get('mcp-session-id')!
    }
    const ping = async (who: string, session: string) => {
      const request = post({ jsonrpc: '2.0', id: 2, method: 'ping' }, { 'mcp-session-id': session })
      return (await handler.fetch(request, as(who))).status
    }
    const anna = await open('anna')
    const mallory = [await open('mallory'), await open('mallory'), await open('mallory')]
    // Anna's is idle for longest, and still not the one that goes.
    mallory.push(await open('mallory'))
    const ben = await open('ben')
    expect([await ping('anna', anna), await ping('ben', ben)]).toEqual([200, 200])
    const statuses = await Promise.all(mallory.map((session) => ping('mallory', session)))
    expect(statuses).toEqual([404, 404, 200, 200])
  })

  it('of one who keeps all in use make room for another', async () => {
    const handler = await handlerOf({ maxSessions: 4 })
    const as = (clientId: string) => ({ authInfo: { token: '', clientId, scopes: [] } })
    const open = async (who: string) => {
      const response = await handler.fetch(post(INITIALIZE), as(who))
      return { status: response.status, id: response.headers.get('mcp-session-id')! }
    }
    for (let index = 0; index < 4; index++) {
      const { id } = await open('mallory')
      const headers = { host: 'localhost:3001', accept: 'text/event-stream', 'mcp-session-id': id }
      const listening = new Request('http://localhost:3001/mcp', { headers })
      expect((await handler.fetch(listening, as('mallory'))).status).toBe(200)
    }
    expect((await open('mallory')).status).toBe(503)
    expect((await open('anna')).status).toBe(200)
  })

  it('are ended by their client', async () => {
    const handler = await handlerOf()
    const session = (await handler.fetch(post(INITIALIZE))).headers.get('mcp-session-id')!
    const headers = { host: 'localhost:3001', 'mcp-session-id': session }
    const end = () => handler.fetch(new Request('http://localhost:3001/mcp', { method: 'DELETE', headers }))
    expect((await end()).status).toBe(200)
    expect((await end()).status).toBe(404)
  })
})

describe('closing', () => {
  /** A tool that ends when the test says so. */
  function newSlow() {
    let finish = () => {}
    let begin = () => {}
    const begun = new Promise<void>((resolve) => {
      begin = resolve
    })
    const slow = defineTool({
      name: 'slow',
      description: 'Slow.',
      input: z.strictObject({}),
      execute: () =>
        new Promise<string>((resolve) => {
          finish = () => resolve('done')
          begin()
        }),
    })
    return { slow, begun, finish: () => finish() }
  }

  it('lets a call under way end, and takes no more', async () => {
    const { slow, begun, finish } = newSlow()
    const { url, server } = await serve({ tools: [slow] }, { graceMs: 10_000 })
    const client = await connect(url, 'modern')
    const call = client.callTool({ name: 'slow', arguments: {} })
    await begun
    const closing = server.close()
    finish()
    expect((await call).content).toMatchObject([{ text: 'done' }])
    await closing
    await expect(fetch(url)).rejects.toThrow()
  })

  it.each(['legacy', 'modern'] as const)('answers a %s call that it stops', async (era) => {
    const { slow, begun } = newSlow()
    const { url, server } = await serve({ tools: [slow] }, { graceMs: 0 })
    const client = await connect(url, era)
    const call = client.callTool({ name: 'slow', arguments: {} })
    await begun
    await server.close()
    expect(await call).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('ABORTED') }] })
  })

  it('does not wait for those who only listen or say nothing', async () => {
    const { url, server } = await serve({ tools: [whoami] }, { graceMs: 10_000 })
    await connect(url, 'legacy', { listChanged: { tools: { onChanged: () => {} } } })
    const silent = connectSocket(Number(url.port), '127.0.0.1')
    await new Promise((resolve) => silent.once('connect', resolve))
    await server.close()
    silent.destroy()
  })
})
