import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { McpServer as LegacyServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { acceptedContent, createMcpHandler, inputRequired, McpServer } from '@modelcontextprotocol/server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type TestHub, testHub } from '../../testing/src/tool-contract.ts'
import { createMcpSource, type McpSource } from './mcp-source.ts'

const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] })

/** A road of the web server to each kind of MCP server. */
const roads = new Map<string, RequestListener>()
const heard = { headers: [] as unknown[], isCancelled: false }
let web: Server
let hub: TestHub
let source: McpSource

beforeAll(async () => {
  web = createServer((request, response) => {
    const road = roads.get(new URL(request.url!, 'http://x').pathname)
    if (road) void road(request, response)
    else response.writeHead(404).end()
  }).listen(0, '127.0.0.1')
  await once(web, 'listening')
  const at = (path: string) => `http://127.0.0.1:${(web.address() as AddressInfo).port}${path}`
  serveModern()
  serveSessions()
  serveSse()
  serveBroken()
  source = createMcpSource(
    {
      modern: { url: at('/modern'), headers: { 'X-Key': '${KEY}' }, oauth: false, trust: true },
      session: { url: at('/session'), oauth: false },
      sse: { url: at('/sse'), oauth: false },
      locked: { url: at('/locked'), oauth: false },
      broken: { url: at('/broken'), oauth: false },
      down: { url: `http://127.0.0.1:${await closedPort()}/mcp`, oauth: false },
    },
    { env: { KEY: 'open-sesame' } },
  )
  hub = testHub({ sources: [source], onQuestion: () => ({ confirm: true }) })
  await hub.ready({ all: true })
})
afterAll(async () => {
  await hub.close()
  web.closeAllConnections()
  web.close()
})

let hasMore = false
let handler: ReturnType<typeof createMcpHandler>
function serveModern() {
  handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'modern', version: '1' }, { capabilities: { tools: { listChanged: true } } })
    server.registerTool('echo', { inputSchema: z.object({ message: z.string() }) }, ({ message }) => text(message))
    server.registerTool('deploy', { inputSchema: z.object({}) }, (_, ctx) => {
      const form = z.object({ confirm: z.boolean() })
      const answer = acceptedContent(ctx.mcpReq.inputResponses, 'confirm', form)
      if (answer) return text(`deployed: ${answer.confirm}`)
      const confirm = inputRequired.elicit({ message: 'Deploy?', requestedSchema: form })
      return inputRequired({ inputRequests: { confirm }, requestState: 'round one' })
    })
    server.registerTool('wait', { inputSchema: z.object({}) }, async (_, ctx) => {
      await ctx.mcpReq.notify({
        method: 'notifications/progress',
        params: { progressToken: ctx.mcpReq._meta!.progressToken!, progress: 1 },
      })
      await new Promise<void>((resolve) => ctx.mcpReq.signal.addEventListener('abort', () => resolve(), { once: true }))
      heard.isCancelled = true
      return text('stopped')
    })
    server.registerTool(
      'region',
      { inputSchema: z.object({ region: z.string().meta({ 'x-mcp-header': 'Region' }) }) },
      () => text('ok'),
    )
    if (hasMore) server.registerTool('more', { inputSchema: z.object({}) }, () => text('more'))
    return server
  })
  const serve = toNodeHandler(handler)
  roads.set('/modern', (request, response) => {
    heard.headers.push(request.headers)
    return serve(request, response)
  })
}

let sessions = new Map<string, StreamableHTTPServerTransport>()
function serveSessions() {
  roads.set('/session', async (request, response) => {
    const id = request.headers['mcp-session-id']
    const known = sessions.get(String(id))
    if (known) return known.handleRequest(request, response)
    if (id) return void response.writeHead(404).end()
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (made) => void sessions.set(made, transport),
    })
    await legacyServer().connect(transport)
    await transport.handleRequest(request, response)
  })
}

let sse: SSEServerTransport
function serveSse() {
  roads.set('/sse', async (request, response) => {
    if (request.method !== 'GET') return void response.writeHead(405).end()
    sse = new SSEServerTransport('/messages', response)
    await legacyServer().connect(sse)
  })
  roads.set('/messages', (request, response) => sse.handlePostMessage(request, response))
}

function serveBroken() {
  roads.set('/locked', (_, response) => void response.writeHead(401, { 'www-authenticate': 'Bearer' }).end())
  roads.set('/broken', async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const { id, method, params } = body === '' ? {} : JSON.parse(body)
    const answer = (result: unknown) => {
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, result }))
    }
    if (method === 'initialize')
      return answer({
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'b', version: '1' },
      })
    if (method === 'notifications/initialized') return void response.writeHead(202).end()
    if (method === 'tools/list') return answer({ tools: ['huge', 'hangup', 'page', 'error'].map((name) => ({ name })) })
    if (params?.name === 'huge') return answer(text('x'.repeat(11_000_000)))
    if (params?.name === 'hangup')
      return void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(': nothing\n\n')
    if (params?.name === 'page') return void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>')
    if (params?.name === 'error') return void response.writeHead(503).end('busy')
    response.writeHead(405).end()
  })
}

function legacyServer(): LegacyServer {
  const server = new LegacyServer({ name: 'legacy', version: '1' })
  server.registerTool('echo', { inputSchema: { message: z.string() } }, ({ message }) => text(message))
  return server
}

/** One that was free a moment ago, so that nobody listens there. */
async function closedPort(): Promise<number> {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port } = taken.address() as AddressInfo
  taken.close()
  await once(taken, 'close')
  return port
}

const echo = (server: string) => hub.call(`mcp/${server}.echo`, { message: 'hi' })

describe('servers over HTTP', () => {
  it('are spoken to in the protocol that each knows', () => {
    const eras = source.status().map(({ name, state, era }) => `${name} ${state} ${era}`)
    expect(eras.slice(0, 3)).toEqual(['modern connected modern', 'session connected legacy', 'sse connected legacy'])
  })

  it('answer calls', async () => {
    for (const server of ['modern', 'session', 'sse'])
      expect((await echo(server)).content).toEqual([{ type: 'text', text: 'hi' }])
  })

  it('get the headers that the owner gave, which no result holds', async () => {
    expect(heard.headers.every((headers) => (headers as Record<string, string>)['x-key'] === 'open-sesame')).toBe(true)
    const result = await hub.call('mcp/modern.echo', { message: 'region' })
    expect(result.ok).toBe(true)
  })

  it('get arguments as headers where they want that', async () => {
    await hub.call('mcp/modern.region', { region: 'north' })
    expect(heard.headers).toContainEqual(expect.objectContaining({ 'mcp-param-region': 'north', 'mcp-name': 'region' }))
  })

  it('get their questions answered within the very call', async () => {
    expect((await hub.call('mcp/modern.deploy', {})).content).toEqual([{ type: 'text', text: 'deployed: true' }])
  })

  it('hear that a call was stopped', async () => {
    const stop = new AbortController()
    const onEvent = (event: { type: string }) => event.type === 'call-progressed' && stop.abort()
    const result = await hub.call('mcp/modern.wait', {}, { signal: stop.signal, onEvent })
    expect(result.status).toBe('aborted')
    await expect.poll(() => heard.isCancelled).toBe(true)
  })

  it('are listed again when their tools change', async () => {
    hasMore = true
    handler.notify.toolsChanged()
    await expect.poll(() => source.status().flatMap(({ changed = [] }) => changed)).toEqual(['mcp/modern.more'])
    expect(await source.acceptDefinitions('modern')).toEqual(['more'])
    expect((await hub.call('mcp/modern.more', {})).ok).toBe(true)
  })

  it('are connected anew when they have forgotten a session', async () => {
    sessions = new Map()
    expect((await echo('session')).ok).toBe(true)
    expect(sessions.size).toBe(1)
  })

  it('are connected anew when their stream breaks', async () => {
    await sse.close()
    await expect.poll(async () => (await echo('sse')).ok).toBe(true)
  })

  it('that break a call end it with a typed error', async () => {
    const errors = await Promise.all(
      ['huge', 'hangup', 'page', 'error'].map(async (tool) => (await hub.call(`mcp/broken.${tool}`, {})).error),
    )
    expect(errors.map((error) => error?.code)).toEqual([
      'HTTP_TOO_LARGE',
      'UPSTREAM_ERROR',
      'UPSTREAM_ERROR',
      'UPSTREAM_ERROR',
    ])
    expect(errors[1]!.message).toContain('stream ended without an answer')
    expect(errors[3]!.message).toContain('busy')
  })

  it('that let nobody in, or are not there, say so', async () => {
    const [locked, down] = await Promise.all([echo('locked'), echo('down')])
    expect(locked.error).toMatchObject({
      code: 'UPSTREAM_ERROR',
      fix: { hint: expect.stringContaining('mcp login locked') },
    })
    expect(down.error).toMatchObject({
      retryable: true,
      fix: {
        hint: expect.stringMatching(/^Is the server running at http:\S+\/mcp\? Correct the url in tool-hub.yaml\.$/),
      },
    })
  })
})
