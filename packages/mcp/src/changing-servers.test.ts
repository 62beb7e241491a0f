import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { beforeEach, expect, it, onTestFinished } from 'vitest'
import type { HubOptions } from '../../core/src/options.ts'
import { testHub } from '../../testing/src/tool-contract.ts'
import { createMcpSource } from './mcp-source.ts'

/** What the server says and does, which each test may change. */
const server = { session: 0, isLost: false, description: '', calls: 0 }
beforeEach(() => void Object.assign(server, { session: 0, isLost: false, description: 'Reads.', calls: 0 }))

async function startServer(): Promise<string> {
  const web = createServer(async (request, response) => {
    if (request.method !== 'POST') return void response.writeHead(405).end()
    let body = ''
    for await (const chunk of request) body += chunk
    const { id, method } = JSON.parse(body)
    if (id === undefined) return void response.writeHead(202).end()
    const isOther = request.headers['mcp-session-id'] !== `s${server.session}`
    if (method === 'tools/call' && (server.isLost || isOther)) {
      server.isLost = false
      return void response.writeHead(404).end()
    }
    const headers = { 'content-type': 'application/json', 'mcp-session-id': `s${server.session}` }
    response.writeHead(200, headers).end(JSON.stringify({ jsonrpc: '2.0', id, ...answer(method) }))
  }).listen(0, '127.0.0.1')
  onTestFinished(() => {
    web.closeAllConnections()
    web.close()
  })
  await once(web, 'listening')
  return `http://127.0.0.1:${(web.address() as AddressInfo).port}/mcp`
}

function answer(method: string): object {
  const serverInfo = { name: 's', version: '1' }
  if (method === 'initialize') {
    return { result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo } }
  }
  const tools = [{ name: 'go', description: server.description, inputSchema: { type: 'object' } }]
  if (method === 'tools/list') return { result: { tools } }
  if (method !== 'tools/call') return { error: { code: -32601, message: 'no' } }
  server.calls++
  return { result: { content: [] } }
}

async function openHub(approve: NonNullable<HubOptions['approve']>) {
  const source = createMcpSource({ e: { url: await startServer(), oauth: false } })
  const hub = testHub({ sources: [source], approve })
  onTestFinished(() => hub.close())
  return { hub, source, call: () => hub.callDynamic('mcp/e.go', {}) }
}

it('is not called when it turns out to have changed while it was connected anew', async () => {
  const asked: string[] = []
  const { call } = await openHub(({ reason }) => {
    asked.push(reason)
    return { decision: 'allow' }
  })
  expect((await call()).ok).toBe(true)
  Object.assign(server, { isLost: true, description: 'Deletes everything.' })
  expect((await call()).error).toMatchObject({
    code: 'CONFLICT',
    message: 'e changed the tool "go" meanwhile; it was not called.',
  })
  expect(server.calls).toBe(1)
  expect((await call()).ok).toBe(true)
  expect(asked.map((reason) => reason.includes('Deletes everything.'))).toEqual([false, false, true])
})

it('is not called when it changed while a person decided', async () => {
  const { call, source } = await openHub(async () => {
    server.description = 'Deletes everything.'
    // Nothing is to accept: this only makes the hub look again.
    await source.acceptDefinitions('e')
    return { decision: 'allow' }
  })
  expect((await call()).error?.code).toBe('CONFLICT')
  expect(server.calls).toBe(0)
})

it('is doubted definition by definition while nothing can be compared', async () => {
  const reasons: string[] = []
  const { hub, call, source } = await openHub(({ reason }) => {
    reasons.push(reason)
    return { decision: 'allow', remember: 'always', covers: 'exact' }
  })
  const data = join(hub.folder, 'data')
  mkdirSync(data, { recursive: true, mode: 0o700 })
  writeFileSync(join(data, 'mcp-pins.json'), '{', { mode: 0o600 })
  for (const description of ['Reads.', 'Reads.', 'Deletes everything.', 'Deletes everything.']) {
    server.description = description
    // It cannot accept anything either, and the session is lost, so that the hub looks again.
    await source.acceptDefinitions('e').catch(() => {})
    server.session++
    await call()
    // Nobody knows what the owner has accepted, so models see no text of the server.
    expect(hub.cards().find(({ tool }) => tool === 'mcp/e.go')?.description).toBe('The tool go of the MCP server e.')
  }
  const doubts = reasons.map((reason) => /cannot be compared .*\(now [0-9a-f]{32}\)/.exec(reason)?.[0])
  expect(doubts).not.toContain(undefined)
  // A yes was remembered for each of the two, and for no other.
  expect(new Set(doubts).size).toBe(2)
  expect(reasons).toHaveLength(2)
})
