import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type HttpServed, serveHttp } from '../../../../test/support/http-served.ts'
import { connectClient } from '../../../adapters/src/sources/client-tools/connect-client.ts'
import { toolEntry } from '../../../core/src/protocol/calls.ts'
import { health, me } from '../../../core/src/protocol/service.ts'
import { defineTool } from '../../../core/src/tool.ts'

const add = defineTool({
  name: 'test/math.add',
  description: 'Adds two numbers.',
  input: z.strictObject({ a: z.number(), b: z.number() }),
  output: z.strictObject({ sum: z.number() }),
  execute: ({ a, b }) => ({ sum: a + b }),
})
const count = defineTool({
  name: 'count',
  description: 'Counts its calls.',
  input: z.strictObject({}),
  capabilities: ['send'],
  execute: () => ({ count: 1 }),
})

let served: HttpServed
let caller = ''
let reader = ''
let approver = ''
let admin = ''
beforeAll(async () => {
  served = await serveHttp({ tools: [add, count] })
  caller = await served.newToken('caller', ['call'])
  reader = await served.newToken('reader', ['read'])
  approver = await served.newToken('approver', ['approve'])
  admin = await served.newToken('admin', ['admin'])
})
afterAll(() => served.close())

describe('who may', () => {
  it.each([
    ['POST', '/v1/tools/count/call', ['caller']],
    ['GET', '/v1/tools', ['caller', 'reader']],
    ['GET', '/v1/calls', ['reader']],
    ['GET', '/v1/runs', ['reader']],
    ['GET', '/v1/approvals', ['caller', 'reader', 'approver']],
    ['POST', '/v1/approvals/none', ['approver']],
    ['POST', '/v1/questions/none', ['approver']],
    ['GET', '/v1/grants', ['reader']],
    ['DELETE', '/v1/grants/none', ['admin']],
    ['GET', '/v1/policy', ['reader', 'admin']],
    ['GET', '/v1/policy/suggestions', ['reader', 'admin']],
    ['PUT', '/v1/policy', ['admin']],
    ['POST', '/v1/runs/none/undo', ['admin']],
    ['GET', '/v1/runs/none/taint', ['reader', 'approver']],
    ['DELETE', '/v1/runs/none', ['admin']],
    ['GET', '/v1/tokens', ['admin']],
    ['POST', '/v1/tokens/none/rotate', ['admin']],
    ['GET', '/v1/principals', ['reader']],
    ['GET', '/metrics', ['reader']],
    ['GET', '/v1/health', ['reader']],
    ['GET', '/v1/me', ['caller', 'reader', 'approver', 'admin']],
    ['POST', '/mcp', ['caller']],
  ])('%s %s', async (method, path, allowed) => {
    const tokens = { caller, reader, approver, admin }
    const open: string[] = []
    for (const [name, token] of Object.entries(tokens)) {
      const { status, json } = await served.ask(method, path, token, method === 'GET' ? undefined : {})
      if (status !== 403) open.push(name)
      else expect(json.error.code).toBe('FORBIDDEN')
    }
    expect(open).toEqual(allowed)
    const { status, headers, json } = await served.ask(method, path, undefined, method === 'GET' ? undefined : {})
    expect([status, json.error.code]).toEqual([401, 'UNAUTHENTICATED'])
    expect(headers.get('www-authenticate')).toMatch(/^Bearer/)
  })

  it('is nobody with a token too many, and everybody for what is open', async () => {
    expect((await served.ask('GET', '/healthz')).json).toEqual({ ok: true })
    expect((await served.ask('GET', '/readyz')).json).toEqual({ ok: true })
    expect((await served.ask('GET', '/v1/me', 'th_nonsense')).status).toBe(401)
  })
})

describe('looking', () => {
  it('says who one is, and how the service does', async () => {
    expect(me.parse((await served.ask('GET', '/v1/me', reader)).json)).toMatchObject({
      principal: { name: 'token:reader', scopes: ['read'] },
      server: { version: '1.2.3' },
    })
    expect(health.safeParse((await served.ask('GET', '/v1/health', reader)).json).success).toBe(true)
    const { text, headers } = await served.ask('GET', '/metrics', reader)
    expect(headers.get('content-type')).toMatch(/^text\/plain/)
    expect(text).toMatch(/^# HELP /)
  })

  it.each([
    ['hub', (tool: Record<string, unknown>) => tool.tool === 'test/math.add' && toolEntry.safeParse(tool).success],
    ['openai', (tool: Record<string, unknown>) => (tool.function as { name?: string })?.name === 'test_math_add'],
    ['anthropic', (tool: Record<string, unknown>) => tool.name === 'test_math_add' && 'input_schema' in tool],
    ['mcp', (tool: Record<string, unknown>) => tool.name === 'test_math_add' && 'inputSchema' in tool],
  ])('lists the tools as %s wants them', async (form, isRight) => {
    const { json } = await served.ask('GET', `/v1/tools?form=${form}`, caller)
    expect(json.tools.filter(isRight)).toHaveLength(1)
  })

  it.each([
    ['hub', (tool: Record<string, unknown>) => tool.tool],
    ['openai', (tool: Record<string, unknown>) => (tool.function as { name?: string })?.name],
    ['anthropic', (tool: Record<string, unknown>) => tool.name],
    ['mcp', (tool: Record<string, unknown>) => tool.name],
  ])('searches tools, best first, as %s wants them', async (form, nameOf) => {
    const search = async (text: string, token = caller) => {
      const { json } = await served.ask('GET', `/v1/tools?form=${form}&search=${encodeURIComponent(text)}`, token)
      return json.tools.map(nameOf).map((name: string) => name.replaceAll(/[./]/g, '_'))
    }
    const found = await search('read a text file')
    expect(found[0]).toBe('core_fs_readText')
    expect(found.length).toBeLessThanOrEqual(50)
    expect(await search('xylophone')).toEqual([])
    const narrow = await served.newToken(`searches-${form}`, ['call'], { profile: 'minimal' })
    expect(await search('read a text file', narrow)).not.toContain('core_fs_readText')
  })

  it('lists what is hidden only when asked to, and says why', async () => {
    const narrow = await served.newToken('narrow', ['call'], { profile: 'minimal' })
    const list = async (query: string) =>
      (await served.ask('GET', `/v1/tools${query}`, narrow)).json.tools as {
        tool: string
        visible: boolean
        why?: string
      }[]
    expect((await list('')).every(({ visible }) => visible)).toBe(true)
    expect((await list('?hidden=false')).every(({ visible }) => visible)).toBe(true)
    const hidden = (await list('?hidden=true')).find(({ visible }) => !visible)
    expect(hidden?.why).toBeTruthy()
  })

  it('tells nobody of tools that a client of somebody else has brought, not even as hidden', async () => {
    const { hub } = (await served.tokens.authenticate(caller))!
    const input = { type: 'object', properties: {} }
    const editor = connectClient(hub, {
      name: 'editor',
      tools: [{ name: 'editor_open', description: 'Opens.', input }],
    })
    await hub.ready()
    const names = async (token: string) => (await served.ask('GET', '/v1/tools?hidden=true', token)).text
    expect(await names(caller)).toContain('editor_open')
    for (const token of [reader, await served.newToken('other', ['call'])])
      expect(await names(token)).not.toContain('editor_open')
    await editor.close()
  })

  it('refuses a query that makes no sense', async () => {
    for (const path of [
      '/v1/calls?limit=many',
      '/v1/calls?limit=1&limit=2',
      '/v1/tools?form=xml',
      '/v1/tools?search=',
      '/v1/events?types=x',
    ]) {
      const { status, json } = await served.ask('GET', path, reader)
      expect([path, status, json.error.code]).toEqual([path, 400, 'INPUT_SCHEMA_INVALID'])
    }
  })

  it('finds nothing where nothing is, and says which methods there are', async () => {
    const unknown = await served.ask('GET', '/v1/nothing', reader)
    expect([unknown.status, unknown.json.error.code]).toEqual([404, 'NOT_FOUND'])
    const wrong = await served.ask('PUT', '/v1/tokens', admin, {})
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, POST'])
    expect((await served.ask('HEAD', '/v1/events', reader)).status).toBe(405)
    expect((await served.ask('GET', '/v1/calls/none', reader)).status).toBe(404)
    expect((await served.ask('GET', '/v1/runs/..%2F..%2Fetc', reader)).status).toBe(404)
  })
})

describe('tokens and sessions', () => {
  it('are made, used and revoked', async () => {
    const made = await served.ask('POST', '/v1/tokens', admin, { name: 'made', scopes: ['read'] })
    expect(made.status).toBe(201)
    expect((await served.ask('GET', '/v1/me', made.json.secret)).status).toBe(200)
    const listed = await served.ask('GET', '/v1/tokens', admin)
    expect(listed.text).not.toContain(made.json.secret)
    expect((await served.ask('DELETE', `/v1/tokens/${made.json.token.id}`, admin)).status).toBe(204)
    expect((await served.ask('GET', '/v1/me', made.json.secret)).status).toBe(401)
    expect((await served.ask('DELETE', `/v1/tokens/${made.json.token.id}`, admin)).status).toBe(404)
  })

  it('are rotated with an overlap, which the records show', async () => {
    const { json: made } = await served.ask('POST', '/v1/tokens', admin, { name: 'rotated', scopes: ['read'] })
    const path = `/v1/tokens/${made.token.id}`
    const rotated = await served.ask('POST', `${path}/rotate`, admin, { overlapMs: 60_000 })
    expect([rotated.status, rotated.json.token.name]).toEqual([200, 'rotated'])
    for (const secret of [made.secret, rotated.json.secret])
      expect((await served.ask('GET', '/v1/me', secret)).json.principal.name).toBe('token:rotated')
    const listed = await served.ask('GET', '/v1/tokens', admin)
    expect(listed.json.tokens).toContainEqual(
      expect.objectContaining({ id: made.token.id, previous: expect.objectContaining({ usedAt: expect.any(Number) }) }),
    )
    expect(listed.text).not.toContain(rotated.json.secret)
    expect((await served.ask('POST', `${path}/rotate`, admin, {})).status).toBe(409)
    for (const body of [{ overlapMs: -1 }, { overlap: 1 }])
      expect((await served.ask('POST', `${path}/rotate`, admin, body)).status).toBe(400)
    expect((await served.ask('POST', '/v1/tokens/none/rotate', admin, {})).status).toBe(404)
    expect((await served.ask('DELETE', path, admin)).status).toBe(204)
    for (const secret of [made.secret, rotated.json.secret])
      expect((await served.ask('GET', '/v1/me', secret)).status).toBe(401)
  })

  it('let a page sign in, ask, and change something only with the word against forgery', async () => {
    const origin = served.server.url
    const signedIn = await served.ask('POST', '/v1/sessions', undefined, { token: admin }, { origin })
    expect(signedIn.status).toBe(201)
    const cookie = signedIn.headers.get('set-cookie')!.split(';', 1)[0]!
    const { json } = await served.ask('GET', '/v1/me', undefined, undefined, { cookie })
    expect(json.principal.name).toBe('token:admin')
    const change = (headers: Record<string, string>) =>
      served.ask('POST', '/v1/tokens', undefined, { name: 'by-page', scopes: ['read'] }, { cookie, origin, ...headers })
    expect((await change({})).status).toBe(403)
    expect((await change({ 'x-tool-hub-csrf': json.csrf })).status).toBe(201)
    const out = await served.ask('DELETE', '/v1/sessions', undefined, undefined, {
      cookie,
      origin,
      'x-tool-hub-csrf': json.csrf,
    })
    expect(out.status).toBe(204)
    expect((await served.ask('GET', '/v1/me', undefined, undefined, { cookie })).status).toBe(401)
    expect((await served.ask('POST', '/v1/sessions', undefined, { token: 'th_wrong' }, { origin })).status).toBe(401)
  })
})

it('nothing failed that nobody expected', () => {
  expect(served.errors).toEqual([])
})
