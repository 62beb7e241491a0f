import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Scope } from '@tool-hub/core/protocol'
import { openPostgresStore } from '@tool-hub/library/stores'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { WebSocket } from 'ws'
import { z } from 'zod'
import {
  type ClusterService,
  holdTool,
  type ServedCluster,
  serveCluster,
  type Token,
} from '../../../../test/support/cluster-served.ts'
import { eventually } from '../../../../test/support/eventually.ts'
import { startPostgres, type TestPostgres } from '../../../../test/support/postgres.ts'
import { defineTool } from '../../../core/src/tool.ts'
import { createTokenRegister } from '../../../server/src/auth/index.ts'

const long = defineTool({
  name: 'long',
  description: 'Returns a long text.',
  input: z.strictObject({}),
  execute: () => 'long '.repeat(20_000),
})

const { hold, held } = holdTool()

/** What `act` did, by its argument. */
const acted: string[] = []
const act = defineTool({
  name: 'act',
  description: 'Does something elsewhere, and waits until it is released.',
  input: z.strictObject({ what: z.string(), isHeld: z.boolean().default(false) }),
  capabilities: ['remote'],
  async execute({ what, isHeld }, ctx) {
    acted.push(what)
    if (isHeld) await hold.execute({}, ctx)
    return what
  },
})

let database: TestPostgres
let cluster: ServedCluster
let first: ClusterService
let second: ClusterService
let ada: Token
beforeAll(async () => {
  database = await startPostgres()
  cluster = await serveCluster(
    2,
    {
      tools: [long, hold, act],
      policy: [{ allow: 'exec' }, { allow: 'remote' }],
      approve: () => ({ decision: 'allow', by: 'the test' }),
    },
    { openStore: () => openPostgresStore(database.url, { schema: 'services' }) },
  )
  ;[first, second] = cluster.services as [ClusterService, ClusterService]
  const bold = { name: 'ada', scopes: ['call', 'read'] as Scope[], allowDanger: true }
  const { token, secret } = await createTokenRegister({ store: first.store }).create(bold, { mayAllow: true })
  ada = { id: token.id, secret }
})
afterEach(() => {
  vi.restoreAllMocks()
})
afterAll(async () => {
  await cluster.close()
  await database.close()
})

interface Called {
  readonly ok: boolean
  readonly data: Record<string, unknown>
  readonly artifacts: readonly { readonly sha256: string; readonly bytes: number }[]
}

async function call(service: ClusterService, tool: string, json: object): Promise<Called> {
  const response = await service.fetch(`/v1/tools/${encodeURIComponent(tool)}/call`, { token: ada.secret, json })
  const result = (await response.json()) as Called
  expect(result, JSON.stringify(result)).toMatchObject({ ok: true })
  return result
}

/** A client of MCP whose requests go to a process that the test can change: behind a load balancer, any may get one. */
async function connect(token: string, service: ClusterService, era: 'legacy' | 'modern' = 'legacy') {
  const to = { service }
  const client = new Client(
    { name: 'agent', version: '1' },
    { versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' } },
  )
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', service.url), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
    fetch: (url, init) => fetch(new URL(new URL(url).pathname, to.service.url), init),
    reconnectionOptions: {
      initialReconnectionDelay: 10,
      maxReconnectionDelay: 10,
      reconnectionDelayGrowFactor: 1,
      maxRetries: 0,
    },
  })
  await client.connect(transport)
  onTestFinished(() => client.close().catch(() => {}))
  return { client, to, transport }
}

describe('work that one process has', () => {
  it('a command in the background is read and stopped at every process', async () => {
    const run = 'background'
    await call(second, 'long', { run })
    const { data } = await call(first, 'core/exec.run', {
      run,
      input: { command: 'echo ready; exec sleep 600', background: true },
    })
    const sessionId = data.sessionId
    for (const service of [first, second])
      await eventually(async () => {
        const read = await call(service, 'core/exec.process', { run, input: { action: 'log', sessionId } })
        expect(JSON.stringify(read.data)).toContain('ready')
      })
    await call(first, 'core/exec.process', { run, input: { action: 'kill', sessionId } })
    await eventually(async () => {
      const read = await call(second, 'core/exec.process', { run, input: { action: 'poll', sessionId } })
      expect(read.data).toMatchObject({ command: { status: 'exited' } })
    })
    expect(second.hub.cluster!.leaseOf(run)).toBeDefined()
  })

  it('an artifact is read at every process, also after its run has ended', async () => {
    const run = 'artifacts'
    const { artifacts } = await call(second, 'long', { run })
    const [{ sha256, bytes }] = artifacts as [Called['artifacts'][number]]
    const read = async () => {
      const response = await first.fetch(`/v1/artifacts/${sha256}?run=${run}`, { token: ada.secret })
      return [response.status, (await response.arrayBuffer()).byteLength]
    }
    expect(await read()).toEqual([200, bytes])
    await second.hub.endRun(run)
    await second.hub.cluster!.release(run)
    expect(await read()).toEqual([200, bytes])
  })

  it('a task of MCP that was started at one process is seen, waited for and cancelled at the other', async () => {
    const { client, to } = await connect(ada.secret, second)
    const request = (method: string, params: object) =>
      client.request({ method, params } as never, z.looseObject({}) as never) as Promise<Record<string, never>>
    const start = async () => {
      const { task } = await request('tools/call', { name: 'hold', arguments: {}, task: {} })
      return { taskId: (task as unknown as { taskId: string }).taskId }
    }
    const one = await start()
    to.service = first
    expect(await request('tasks/get', one)).toMatchObject({ status: 'working' })
    expect(await request('tasks/list', {})).toMatchObject({ tasks: [one] })
    const result = request('tasks/result', one)
    held.release()
    expect(await result).toMatchObject({ content: [{ text: 'released' }] })
    // One that is started over the other process is where its session is.
    const { aborted } = held
    const two = await start()
    to.service = second
    expect(await request('tasks/get', two)).toMatchObject({ status: 'working' })
    to.service = first
    expect(await request('tasks/cancel', two)).toMatchObject({ status: 'cancelled' })
    await eventually(() => expect(held.aborted).toBe(aborted + 1))
  })

  it('an artifact of MCP is read at the other process, whole', async () => {
    const { client, to } = await connect(ada.secret, second)
    const { content } = await client.callTool({ name: 'long', arguments: {} })
    const { uri } = content.find(({ type }) => type === 'resource_link') as { uri: string }
    to.service = first
    const { contents } = await client.readResource({ uri })
    expect(contents).toMatchObject([{ text: 'long '.repeat(20_000) }])
    const { resources } = await client.listResources()
    expect(resources).toMatchObject([{ uri }])
    const eve = await cluster.newToken('eve', ['call'])
    const other = await connect(eve.secret, first)
    await expect(other.client.readResource({ uri })).rejects.toThrow(/not found/i)
  })
})

describe('a token that is revoked at one process', () => {
  it('loses its MCP session, its WebSocket and its calls at the other within 2 s', async () => {
    const bob = await cluster.newToken('bob', ['call', 'read'])
    const { begun, aborted } = held
    const calls = (['legacy', 'modern'] as const).map(async (era) => {
      const { client } = await connect(bob.secret, second, era)
      const result = await client.callTool({ name: 'hold', arguments: {} })
      return [era, result.isError, JSON.stringify(result.content)]
    })
    const socket = new WebSocket(`${second.url.replace('http', 'ws')}/v1/ws`, ['tool-hub.v1', `bearer.${bob.secret}`])
    socket.on('error', () => {})
    const closed = new Promise<number>((resolve) => socket.once('close', resolve))
    await new Promise((resolve) => socket.once('open', resolve))
    socket.send(JSON.stringify({ type: 'hello' }))
    await new Promise((resolve) => socket.once('message', resolve))
    socket.send(JSON.stringify({ type: 'call', id: 'c', tool: 'hold', input: {} }))
    await eventually(() => expect(held.begun).toBe(begun + 3))
    const since = Date.now()
    expect((await first.fetch(`/v1/tokens/${bob.id}`, { method: 'DELETE' })).status).toBe(204)
    // A call that never gets an answer would wait for the time limit of its client.
    const ended = expect.stringContaining('ABORTED')
    expect(await Promise.all([...calls, closed])).toEqual([['legacy', true, ended], ['modern', true, ended], 4401])
    await eventually(() => expect(held.aborted).toBe(aborted + 3))
    expect(Date.now() - since).toBeLessThan(2_000)
    for (const service of [first, second])
      await expect(connect(bob.secret, service)).rejects.toMatchObject({ code: expect.anything() })
  })
})

describe('PostgreSQL that is stopped in the middle of a call with side effects', () => {
  interface Answer {
    readonly ok?: boolean
    readonly error?: { readonly code: string; readonly retryable: boolean; readonly fix: { readonly hint: string } }
  }
  const make = async (service: ClusterService, what: string, { run = 'stopped', isHeld = false } = {}) => {
    const json = { run, input: { what, isHeld }, idempotencyKey: what }
    const response = await service.fetch('/v1/tools/act/call', { token: ada.secret, json })
    return (await response.json()) as Answer
  }

  it('gives retryable errors, lets nothing be executed unrecorded, and is used again without a restart', async () => {
    vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    expect(await make(second, 'before')).toMatchObject({ ok: true })
    const { begun } = held
    const midway = make(first, 'midway', { isHeld: true })
    await eventually(() => expect(held.begun).toBe(begun + 1))
    await database.stop('immediate')
    try {
      held.release()
      // Of the same run and of a new one, at the process that has it and at the other.
      for (const service of [first, second])
        for (const run of ['stopped', 'new'])
          expect((await make(service, `away-${run}`, { run })).error).toMatchObject({
            // The second one if this machine was too busy to send its heartbeats.
            code: expect.stringMatching(/^(RECORDS_UNAVAILABLE|PROCESS_CUT_OFF)$/),
            retryable: true,
            fix: { hint: expect.any(String) },
          })
      for (const service of [first, second]) {
        expect((await service.fetch('/v1/approvals', { token: ada.secret })).status).toBe(503)
        expect((await service.fetch('/readyz')).status).toBe(503)
        expect((await service.fetch('/healthz')).status).toBe(200)
      }
    } finally {
      await database.start()
    }
    // Its end is recorded before it is acknowledged; if the server stays away for long, it is not acknowledged.
    const end = await midway
    if (end.ok !== true)
      expect(end).toMatchObject({ status: 'error', error: { code: 'RECORDS_UNAVAILABLE', retryable: false } })
    await eventually(async () => expect(await make(first, 'after')).toMatchObject({ ok: true }))
    await eventually(async () => expect(await make(second, 'new', { run: 'new' })).toMatchObject({ ok: true }))
    for (const service of [first, second]) {
      const again = await make(service, 'midway', { isHeld: true })
      if (end.ok) expect(again).toMatchObject({ ok: true })
    }
    expect(acted).toEqual(['before', 'midway', 'after', 'new'])
    await eventually(async () => {
      for (const service of [first, second]) expect((await service.fetch('/readyz')).status).toBe(200)
    })
    await second.hub.endRun('stopped')
    // The other process knows of the run when the index has it.
    await eventually(async () => {
      const verified = await first.fetch('/v1/audit/verify?run=stopped', { token: ada.secret })
      expect(await verified.json()).toMatchObject({ ok: true, runs: [{ run: 'stopped', problems: [] }] })
    })
  })
})
