import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client as McpClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { createClient } from '@tool-hub/client'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { HubOptions } from '../packages/core/src/options.ts'
import { defineTool } from '../packages/core/src/tool.ts'
import { readEvents } from '../packages/runtime/src/records/log/read-events.ts'
import { adoptDataFolder } from '../packages/sandbox/src/system/data-folder.ts'
import { type RunningService, startService } from '../packages/server/src/start-service.ts'

const folder = mkdtempSync(join(tmpdir(), 'tool-hub-service-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const services: RunningService[] = []
afterEach(async () => {
  await Promise.all(services.splice(0).map((service) => service.close()))
})

let effects = 0
const act = defineTool({
  name: 'test.act',
  description: 'Has an effect.',
  input: z.strictObject({ what: z.string() }),
  capabilities: ['remote'],
  execute: ({ what }) => `${what} ${++effects}`,
})

/** A service over real files; with the folder of an earlier one it continues there. */
async function start(
  home = mkdtempSync(join(folder, 'home-')),
  options: HubOptions = {},
  onProblem?: (message: string) => void,
) {
  mkdirSync(join(home, 'work'), { recursive: true })
  const service = await startService(
    {
      tools: [act],
      sandbox: { root: join(home, 'work') },
      policy: [{ allow: 'test.act' }, { ask: 'write:fs', reason: 'somebody looks' }],
      runs: join(home, 'runs'),
      data: join(home, 'data'),
      ...options,
    },
    { port: 0, shutdownMs: 1_000, onProblem },
  )
  services.push(service)
  const owner = createClient({ url: service.url, token: service.token })
  const clientOf = async (name: string, scopes: ('call' | 'approve' | 'read')[]) => {
    const { secret } = await owner.tokens.create({ name, scopes })
    return { secret, client: createClient({ url: service.url, token: secret }) }
  }
  return { service, owner, clientOf, home }
}

async function end(service: RunningService): Promise<void> {
  services.splice(services.indexOf(service), 1)
  await service.close()
}

describe('the service', () => {
  it('shows every call in its records, its index and its metrics, with who made it', async () => {
    const { service, owner, clientOf, home } = await start()
    const { client } = await clientOf('agent', ['call'])
    const result = await client.call('test.act', { what: 'shown' })
    expect(result).toMatchObject({ ok: true, tool: 'test.act' })
    const { calls } = await owner.calls.list({ tool: 'test.act' })
    expect(calls).toMatchObject([{ callId: result.callId, principal: 'token:agent', status: 'ok' }])
    const lines: unknown[] = []
    for await (const event of readEvents(join(home, 'runs', calls[0]!.run))) lines.push(event)
    expect(lines).toContainEqual(expect.objectContaining({ type: 'call-started', principal: 'token:agent' }))
    const metrics = await fetch(`${service.url}/metrics`, { headers: { authorization: `Bearer ${service.token}` } })
    expect(await metrics.text()).toMatch(/tool="test\.act",status="ok"[^\n]* 1\n/)
    expect(await owner.audit.verify()).toMatchObject({ ok: true })
  })

  it('lets somebody else approve, never the one who called, and remembers who did', async () => {
    const { clientOf, home } = await start()
    const agent = await clientOf('agent', ['call', 'approve'])
    const boss = await clientOf('boss', ['approve', 'read'])
    const calling = agent.client.call('core/fs.writeText', { path: 'a.txt', text: 'one' })
    const approval = await waiting(boss.client)
    expect(approval).toMatchObject({ caller: 'token:agent', mayAnswer: true, views: [{ kind: 'diff', isNew: true }] })
    await expect(agent.client.approvals.answer(approval.id, { decision: 'allow' })).rejects.toMatchObject({
      code: 'POLICY_DENIED',
    })
    const changed = { decision: 'allow', input: { path: 'b.txt', text: 'two' } } as const
    expect(await boss.client.approvals.answer(approval.id, changed)).toMatchObject({ won: true })
    expect(await calling).toMatchObject({ ok: true, meta: { approvedBy: 'token:boss' } })
    expect(readFileSync(join(home, 'work/b.txt'), 'utf8')).toBe('two')
    expect(await boss.client.approvals.answer(approval.id, { decision: 'deny' })).toMatchObject({ won: false })
  })

  it('keeps what waits over a restart, and takes the answer for the same call made again, once', async () => {
    const first = await start()
    const agent = await first.clientOf('agent', ['call'])
    const input = { path: 'late.txt', text: 'x' }
    const cut = agent.client.call('core/fs.writeText', input).catch((error) => error)
    const approval = await waiting(first.owner)
    await end(first.service)
    // During a clean shutdown the client is asked to come again.
    expect(await cut).toMatchObject({ status: 'approval_required' })

    const { owner, service } = await start(first.home)
    expect(await owner.approvals.list()).toMatchObject([{ id: approval.id, state: 'waiting' }])
    expect(await owner.approvals.answer(approval.id, { decision: 'allow' })).toMatchObject({ won: true })
    const client = createClient({ url: service.url, token: agent.secret })
    expect(await client.call('core/fs.writeText', input)).toMatchObject({ ok: true })
    const again = await client.call('core/fs.writeText', { ...input, path: 'other.txt' }, { onAsk: 'return' })
    expect(again).toMatchObject({ status: 'approval_required' })
  })

  it('makes a call with a key once, also when the store is lost, or an older one put in its place', async () => {
    const first = await start()
    const key = { idempotencyKey: 'k' }
    const auto = { requestId: 'r', taskId: 't' }
    const data = join(first.home, 'data')
    await end(first.service)
    cpSync(data, join(first.home, 'older'), { recursive: true })
    const second = await start(first.home)
    expect(await second.owner.call('test.act', { what: 'once' }, key)).toMatchObject({ ok: true })
    expect(await second.owner.call('test.act', { what: 'by request' }, auto)).toMatchObject({ ok: true })
    const before = effects
    await end(second.service)
    rmSync(data, { recursive: true })
    const third = await start(first.home)
    const conflict = { ok: false, error: { code: 'CONFLICT' } }
    expect(await third.owner.call('test.act', { what: 'once' }, key)).toMatchObject(conflict)
    expect(await third.owner.call('test.act', { what: 'by request' }, auto)).toMatchObject(conflict)
    await end(third.service)
    rmSync(data, { recursive: true })
    cpSync(join(first.home, 'older'), data, { recursive: true })
    adoptDataFolder(data)
    const fourth = await start(first.home)
    expect(await fourth.owner.call('test.act', { what: 'once' }, key)).toMatchObject(conflict)
    expect(effects).toBe(before)
    expect(await fourth.owner.call('test.act', { what: 'new' }, { idempotencyKey: 'new' })).toMatchObject({ ok: true })
  })

  it('makes a call with a key once, also over a restart', async () => {
    const first = await start()
    const { secret, client } = await first.clientOf('agent', ['call'])
    const before = effects
    const result = await client.call('test.act', { what: 'once' }, { idempotencyKey: 'k' })
    await end(first.service)
    const { service } = await start(first.home)
    const later = createClient({ url: service.url, token: secret })
    const again = await later.call('test.act', { what: 'once' }, { idempotencyKey: 'k' })
    expect(again).toMatchObject({ data: result.data, meta: { cached: true } })
    expect(effects).toBe(before + 1)
    const other = await later.call('test.act', { what: 'another' }, { idempotencyKey: 'k' })
    expect(other.error?.code).toBe('CONFLICT')
  })

  it('says to an agent whose folder is private and empty who can give it another one', async () => {
    const { clientOf } = await start(undefined, { sandbox: {} })
    const { client } = await clientOf('agent', ['call'])
    const help = 'The owner of the hub can give tools another folder'
    expect(JSON.stringify(await client.call('core/fs.listDir', { path: '.' }))).toContain(help)
    expect(await client.call('core/fs.readText', { path: 'package.json' })).toMatchObject({
      error: { code: 'NOT_FOUND', fix: { hint: expect.stringContaining(help) } },
    })
  })

  it('answers a question of a tool from elsewhere', async () => {
    const { owner, clientOf } = await start()
    const { client } = await clientOf('agent', ['call'])
    const asking = client.call('core/ask.user', { question: 'Which one?', options: ['left', 'right'] })
    const question = await until(async () => (await owner.questions.list())[0])
    expect(question).toMatchObject({ question: 'Which one?', options: ['left', 'right'], caller: 'token:agent' })
    expect(await owner.questions.answer(question.id, { answer: 'right' })).toMatchObject({ won: true })
    expect((await asking).data).toMatchObject({ answer: 'right' })
  })

  it('speaks MCP to the same principal, under the same rules', async () => {
    const { service, clientOf } = await start()
    const { secret } = await clientOf('agent', ['call'])
    const response = await fetch(`${service.url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${secret}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
      }),
    })
    expect(response.status).toBe(200)
    expect(await response.text()).toContain('"serverInfo"')
    expect((await fetch(`${service.url}/mcp`, { method: 'POST' })).status).toBe(401)
  })

  it('leaves no run of an MCP client that only lists tools, and closes quietly with sessions open', async () => {
    const problems: string[] = []
    const { service, clientOf, home } = await start(undefined, {}, (message) => problems.push(message))
    const { secret } = await clientOf('agent', ['call'])
    const transport = () =>
      new StreamableHTTPClientTransport(new URL('/mcp', service.url), {
        requestInit: { headers: { authorization: `Bearer ${secret}` } },
      })
    const clients = await Promise.all(
      (['legacy', { pin: '2026-07-28' }] as const).map(async (mode) => {
        const client = new McpClient({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
        await client.connect(transport())
        expect((await client.listTools()).tools.length).toBeGreaterThan(0)
        return client
      }),
    )
    // It leaves in good order before, so that its session is ended by itself.
    const gone = new McpClient({ name: 'gone', version: '1' }, { versionNegotiation: { mode: 'legacy' } })
    const way = transport()
    await gone.connect(way)
    await gone.listTools()
    await way.terminateSession()
    const runs = () => readdirSync(join(home, 'runs')).filter((name) => name.includes('mcp'))
    expect(runs()).toEqual([])
    const tool = (await clients[0]!.listTools()).tools.find(({ name }) => name.includes('act'))!
    expect(await clients[0]!.callTool({ name: tool.name, arguments: { what: 'x' } })).not.toMatchObject({
      isError: true,
    })
    await end(service)
    expect(problems).toEqual([])
    expect(runs()).toHaveLength(1)
    await Promise.all(clients.map((client) => client.close().catch(() => {})))
  })

  it('immediately refuses a token that another service on the same folder has revoked', async () => {
    const first = await start()
    const second = await start(first.home)
    const { client } = await first.clientOf('agent', ['call'])
    const there = createClient({ url: second.service.url, token: (await first.clientOf('other', ['call'])).secret })
    expect(await there.call('test.act', { what: 'x' })).toMatchObject({ ok: true })
    expect(await client.call('test.act', { what: 'y' })).toMatchObject({ ok: true })
    const { id } = (await first.owner.tokens.list()).find(({ name }) => name === 'other')!
    await first.owner.tokens.revoke(id)
    await expect(there.call('test.act', { what: 'z' })).rejects.toMatchObject({ code: 'UNAUTHENTICATED' })
  })

  it('saves rules into the config that it was started with, and uses them immediately', async () => {
    const home = mkdtempSync(join(folder, 'home-'))
    const config = join(home, 'tool-hub.yaml')
    writeFileSync(config, '# mine\npolicy:\n  - { allow: test.act } # for now\nruns: ./runs\n')
    const service = await startService(
      { tools: [act], policy: [{ allow: 'test.act' }], runs: join(home, 'runs'), data: join(home, 'data') },
      { port: 0, configFile: config },
    )
    services.push(service)
    const owner = createClient({ url: service.url, token: service.token })
    await owner.call('test.act', { what: 'before' })
    const { version } = await owner.policy.get()
    const yaml = '- { deny: test.act, reason: closed }\n'
    expect(await owner.policy.test({ yaml })).toMatchObject({ changed: [{ before: 'allow', after: 'deny' }] })
    await owner.policy.save({ yaml, version })
    expect((await owner.call('test.act', { what: 'after' })).error?.code).toBe('POLICY_DENIED')
    expect(readFileSync(config, 'utf8')).toMatch(/^# mine\n[\s\S]*deny: test\.act[\s\S]*runs: \.\/runs\n$/)
    await expect(owner.policy.save({ yaml, version })).rejects.toMatchObject({ code: 'CONFLICT' })
  })

  it('refuses to start without records, and says when the port is taken', async () => {
    await expect(startService({ runs: false })).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    const { service } = await start()
    const home = mkdtempSync(join(folder, 'home-'))
    const options = { runs: join(home, 'runs'), data: join(home, 'data') }
    await expect(startService(options, { port: Number(new URL(service.url).port) })).rejects.toThrow('Cannot listen')
  })
})

type Client = ReturnType<typeof createClient>

async function waiting(client: Client) {
  return until(async () => (await client.approvals.list())[0])
}

/** What a poll gives as soon as it gives something; the test's own time limit ends it. */
async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    await new Promise(setImmediate)
  }
}
