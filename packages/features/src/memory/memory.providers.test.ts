import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { HubOptions } from '../../../core/src/options.ts'
import { defineTool } from '../../../core/src/tool.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { type TestHub, testHub } from '../../../testing/src/tool-contract.ts'
import type { MemoryProvider } from './providers/provider.ts'
import type { MemoryOptions } from './types.ts'

type Answer = (body: Record<string, unknown>, response: ServerResponse, request: IncomingMessage) => void

let answer: Answer = () => {}
const seen: { path: string; body: Record<string, unknown>; authorization?: string }[] = []
const tenants: unknown[] = []
const server = createServer(async (request, response) => {
  let text = ''
  for await (const chunk of request) text += chunk
  const body = JSON.parse(text)
  seen.push({ path: request.url!, body, authorization: request.headers.authorization })
  tenants.push(request.headers['x-tenant'])
  answer(body, response, request)
})
let url = ''
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/memory/v1`
})
afterAll(() => {
  server.close()
  server.closeAllConnections()
})

const hubs: TestHub[] = []
afterEach(async () => {
  seen.length = 0
  tenants.length = 0
  for (const hub of hubs.splice(0)) await hub.close()
})
function open(memory: MemoryOptions, more: HubOptions = {}): TestHub {
  const policy = [{ allow: 'memory' }, { allow: 'remote' }]
  const hub = testHub({ memory: { writeMode: 'external', ...memory }, policy, ...more }) as unknown as TestHub
  hubs.push(hub)
  return hub
}
const json = (value: unknown, status = 200): Answer => {
  return (_, response) => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}
const REFUSAL = json({ error: { message: 'quota is\nused up' } }, 429)
const recall = (hub: TestHub, options = {}) => hub.callDynamic('recall_memory', { query: 'port', limit: 5 }, options)

describe('a memory that is reached by HTTP', () => {
  it('is asked for the scopes of the caller with its secret, and what it says counts as from outside', async () => {
    const secrets = { memory: { value: 'a-very-secret-token', hosts: ['127.0.0.1'] } }
    const hub = open(
      { provider: { url, secret: 'memory', headers: { 'x-tenant': 'T-${secret:memory}' } } },
      { secrets },
    )
    answer = json({
      notes: [
        { id: 'n1', content: 'Port 8080.', key: 'shared', tags: ['net'], createdAt: 5, score: 2 },
        { id: 'n2', content: 'Somebody else.', key: 'agent:other' },
        { id: 'n3', content: 'x'.repeat(30_000) },
      ],
    })
    const result = await recall(hub, { run: 'r', session: 's' })
    expect(result).toMatchObject({ ok: true, meta: { labels: ['untrusted'] } })
    expect(result.ok && result.data).toMatchObject({
      notes: [
        { id: 'n1', scope: 'shared', untrusted: true },
        { id: 'n3', scope: 'run', content: 'x'.repeat(20_000) },
      ],
    })
    expect(seen).toEqual([
      {
        path: '/memory/v1/recall',
        authorization: 'Bearer a-very-secret-token',
        body: { query: 'port', keys: ['run:r', 'session:s', 'agent:library', 'shared'], limit: 5, tags: [] },
      },
    ])
    expect(tenants).toEqual(['T-a-very-secret-token'])
    // From now on the run has read content from outside, so what it writes waits for a person.
    const written = await hub.callDynamic('write_memory', { content: 'Port 1.' }, { run: 'r' })
    expect(written.ok && written.data).toMatchObject({ state: 'candidate' })
    answer = json({ id: 'theirs-1' })
    const [candidate] = await hub.memory.candidates()
    expect(await hub.memory.promote(candidate!.id, { by: 'anna' })).toMatchObject({ id: 'theirs-1' })
    expect(seen.at(-1)).toMatchObject({
      path: '/memory/v1/write',
      body: { id: `note-${candidate!.id.split('.').at(-1)}`, key: 'agent:library', content: 'Port 1.', tags: [] },
    })
  })

  it('keeps, changes and forgets notes', async () => {
    const hub = open({ provider: { url } })
    answer = json({ id: 'n9' })
    const written = await hub.callDynamic('write_memory', { content: 'Port 80.', scope: 'shared', tags: ['a'] })
    expect(written.ok && written.data).toEqual({ id: 'n9', scope: 'shared', state: 'stored' })
    answer = json({})
    const updated = await hub.callDynamic('core/memory.update', { id: 'n9', scope: 'shared', content: 'Port 81.' })
    expect(updated.ok).toBe(true)
    answer = json({ forgotten: true })
    expect((await hub.callDynamic('core/memory.forget', { id: 'n9', scope: 'shared' })).ok).toBe(true)
    answer = json({ error: { message: 'no such note' } }, 404)
    for (const tool of ['core/memory.update', 'core/memory.forget'])
      expect(
        (await hub.callDynamic(tool, { id: 'n9', scope: 'shared', ...(tool.endsWith('e') && { content: 'x' }) })).error
          ?.code,
      ).toBe('NOT_FOUND')
    expect(seen.map(({ path }) => path.split('/').at(-1))).toEqual(['write', 'update', 'forget', 'update', 'forget'])
    await expect(hub.memory.export()).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  })

  it.each<[string, Answer, string, string]>([
    ['refuses', REFUSAL, 'UPSTREAM_ERROR', 'quota is\\nused up'],
    ['wants to know who asks', json({}, 401), 'UPSTREAM_ERROR', 'answered 401'],
    ['answers garbage', (_, response) => response.end('<html>'), 'UPSTREAM_ERROR', 'protocol'],
    ['answers notes of another form', json({ notes: [{ id: 7 }] }), 'UPSTREAM_ERROR', 'returned an invalid result'],
    ['breaks off', (_, response) => response.destroy(), 'UPSTREAM_ERROR', ''],
    ['sends us elsewhere', (_, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(), '', ''],
    ['answers 100 MB', pour, 'HTTP_TOO_LARGE', '4000000 bytes'],
  ])('%s: the call says so', async (_, how, code, message) => {
    const hub = open({ provider: { url } })
    answer = how
    const { error, meta } = await recall(hub)
    expect(error?.message).toContain(message)
    // Its own words in our message are those of a stranger.
    expect(meta.labels?.includes('untrusted') ?? false).toBe(how === REFUSAL)
    expect(error?.code).toMatch(code || /./)
  })

  it('is given up when it takes too long, or when the caller does', async () => {
    const clock = fakeClock()
    const hub = open({ provider: { url }, limits: { timeoutMs: 3_000 } }, { clock })
    const asked = new Promise<void>((resolve) => {
      answer = () => resolve()
    })
    const slow = recall(hub)
    await asked
    await clock.advance(3_000)
    expect((await slow).error).toMatchObject({ code: 'HTTP_TIMEOUT', fix: { key: 'memory.limits.timeout' } })
    const stop = new AbortController()
    answer = () => stop.abort()
    expect((await recall(hub, { signal: stop.signal })).status).toBe('aborted')
  })

  it('is down, or has no address: the call says so', async () => {
    const gone = createServer().listen(0, '127.0.0.1')
    await once(gone, 'listening')
    const { port } = gone.address() as AddressInfo
    await new Promise((resolve) => gone.close(resolve))
    const down = open({ provider: { url: `http://127.0.0.1:${port}/` } })
    expect((await recall(down)).error?.code).toBe('UPSTREAM_ERROR')
    const wrong = open({ provider: { url: 'ftp://x' } })
    expect((await recall(wrong)).error).toMatchObject({ code: 'CONFIG_INVALID', fix: { key: 'memory.url' } })
    const unset = open({ provider: { url, secret: 'nowhere' } })
    expect((await recall(unset)).error).toMatchObject({ code: 'CONFIG_INVALID' })
  })
})

/** As fast as it is taken, until the other side has enough. */
function pour(_: unknown, response: ServerResponse): void {
  const chunk = Buffer.alloc(1_000_000, 32)
  let left = 100
  const more = () => {
    while (left-- > 0) if (!response.write(chunk)) return void response.once('drain', more)
    response.end()
  }
  more()
}

describe('a memory of an MCP server', () => {
  const calls: unknown[] = []
  const tool = (name: string, give: (input: Record<string, unknown>) => unknown) =>
    defineTool({
      name: `mcp/kept.${name}`,
      description: 'A tool of a memory, for tests.',
      input: z.record(z.string(), z.unknown()),
      capabilities: ['remote'],
      targets: () => ({ remote: `mcp:kept/${name}` }),
      execute: (input) => {
        calls.push([name, input])
        return give(input)
      },
    })
  const tools = [
    tool('find', () => ({ content: [{ type: 'text', text: '{"notes":[{"id":"m1","content":"Port 5."}]}' }] })),
    tool('say', () => ({ content: [{ type: 'text', text: 'The port is 6.' }] })),
    tool('keep', ({ id }) => ({ content: [], structuredContent: { id: `kept-${id}` } })),
  ]
  const provider = {
    mcp: { server: 'kept', recall: 'find', write: { tool: 'keep', arguments: { content: 'text', id: 'id' } } },
  }

  it('is called down the road, with its own names for arguments, and counts as from outside', async () => {
    const hub = open({ provider }, { tools })
    const found = await recall(hub)
    expect(found).toMatchObject({ ok: true, data: { provider: 'mcp:kept', notes: [{ id: 'm1', untrusted: true }] } })
    expect(found.meta.labels).toEqual(['untrusted'])
    const written = await hub.callDynamic('write_memory', { content: 'Port 7.' }, { run: 'fresh' })
    expect(written.ok && written.data).toMatchObject({ id: expect.stringMatching(/^kept-note-/), state: 'stored' })
    expect(calls.at(-1)).toEqual(['keep', { text: 'Port 7.', id: expect.any(String) }])
    const plain = open({ provider: { mcp: { server: 'kept', recall: 'say' } } }, { tools })
    expect(await recall(plain)).toMatchObject({ ok: true, data: { notes: [{ content: 'The port is 6.' }] } })
    const cannot = await plain.callDynamic('write_memory', { content: 'x' }, { run: 'fresh' })
    expect(cannot.error?.code).toBe('TOOL_DISABLED')
  })

  it('is denied where a rule denies its tool, and promoting a note approves it', async () => {
    const policy = [
      { allow: 'memory' },
      { deny: 'remote', on: 'mcp:kept/find' },
      { ask: 'remote', on: 'mcp:kept/keep' },
    ]
    const hub = open({ provider, writeMode: 'candidate' }, { tools, policy, approve: undefined })
    expect((await recall(hub)).error?.code).toBe('POLICY_DENIED')
    const { data } = (await hub.callDynamic('write_memory', { content: 'Port 9.' })) as { data: { id: string } }
    expect((await hub.memory.promote(data.id, { by: 'anna' })).id).toMatch(/^kept-note-/)
  })
})

describe('a memory of the owner', () => {
  const provider: MemoryProvider = {
    name: 'mine',
    recall: async ({ query }) => [{ id: 'a', content: `about ${query}` }],
  }

  it('is asked like any other, and believed where the owner says so', async () => {
    const [first, second] = [open({ provider }), open({ provider: { ...provider, trusted: true } })]
    expect((await recall(first)).meta.labels).toEqual(['untrusted'])
    expect(await recall(second)).toMatchObject({ ok: true, data: { provider: 'mine' } })
    expect((await recall(second)).meta.labels).toBeUndefined()
    const broken = open({ provider: { recall: () => Promise.reject(new Error('lost')) } })
    expect((await recall(broken)).error).toMatchObject({
      code: 'UPSTREAM_ERROR',
      message: expect.stringContaining('lost'),
    })
    const strange = open({ provider: { recall: async () => 'text' as never } })
    expect((await recall(strange)).error?.code).toBe('UPSTREAM_ERROR')
  })
})

describe('embeddings', () => {
  const directions: Readonly<Record<string, number[]>> = { cat: [1, 0], kitten: [0.95, 0.1], stone: [0, 1] }
  const embed = async (texts: readonly string[]) => texts.map((text) => directions[text] ?? [0.5, 0.5])
  const write = (hub: TestHub, content: string) => hub.callDynamic('write_memory', { content })
  const found = async (hub: TestHub, query: string) => {
    const result = await hub.callDynamic('recall_memory', { query })
    return {
      result,
      contents: result.ok ? (result.data as { notes: { content: string }[] }).notes.map((n) => n.content) : [],
    }
  }

  it('find notes by meaning beside words', async () => {
    const hub = open({ embed })
    for (const text of ['kitten', 'stone']) await write(hub, text)
    expect((await found(hub, 'cat')).contents).toEqual(['kitten'])
    expect((await found(hub, 'stone')).contents[0]).toBe('stone')
  })

  it('that fail or give no vector leave the search by words, with a notice', async () => {
    for (const broken of [
      () => Promise.reject(new Error('model is gone')),
      async () => [],
      async () => [[Number.NaN]],
      async () => [[0, 0]],
      async () => 'vectors' as never,
    ]) {
      const hub = open({ embed: broken })
      expect(await write(hub, 'a red ball')).toMatchObject({
        ok: true,
        meta: { notices: [expect.stringContaining('embedding failed')] },
      })
      const { result, contents } = await found(hub, 'ball')
      expect(contents).toEqual(['a red ball'])
      expect(result.meta.notices).toEqual([expect.stringContaining('words only')])
    }
  })

  it('that never come are given up', async () => {
    const clock = fakeClock()
    // Its timer runs when the function is called: how many other timers the hub keeps does not matter.
    let isCalled = false
    const never = () => {
      isCalled = true
      return new Promise<never>(() => {})
    }
    const hub = open({ embed: never, limits: { timeoutMs: 500 } }, { clock })
    const writing = write(hub, 'patience')
    await expect.poll(() => isCalled).toBe(true)
    await clock.advance(500)
    expect(await writing).toMatchObject({ ok: true, meta: { notices: [expect.stringContaining('500 ms')] } })
  })
})
