import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client, type ClientOptions, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type McpHttpServer, serveMcp } from '../packages/server/src/mcp/index.ts'
import { type TestHub, testHub } from '../packages/testing/src/tool-contract.ts'
import { eventsOf } from './support/events-of.ts'

const packages = new URL('../node_modules/@modelcontextprotocol/', import.meta.url)
const entry = (name: string) => fileURLToPath(new URL(`${name}/dist/index.js`, packages))
const noteOwnPid = new URL('support/note-own-pid.mjs', import.meta.url).href
const folder = mkdtempSync(join(tmpdir(), 'tool-hub-gateway-'))
const pids = () => readFileSync(join(folder, 'pids'), 'utf8').trim().split('\n').map(Number)

describe('a hub as a gateway to MCP servers', () => {
  let hub: TestHub
  let server: McpHttpServer
  let client: Client
  const forms: string[] = []
  let decision = 'allow'

  beforeAll(async () => {
    hub = testHub({
      mcpServers: {
        every: {
          command: process.execPath,
          args: ['--import', noteOwnPid, entry('server-everything'), 'stdio'],
          env: { PID_FILE: join(folder, 'pids') },
        },
        memory: {
          command: process.execPath,
          args: [entry('server-memory')],
          env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') },
        },
        broken: { command: process.execPath, args: ['-e', 'console.error("no licence"); process.exit(3)'] },
      },
      policy: [
        { allow: 'remote', on: ['mcp:every/*', 'mcp:memory/read_graph'] },
        { deny: 'mcp/every.get-env', reason: 'the environment stays here' },
      ],
      approve: undefined,
    }) as TestHub
    server = await serveMcp(hub, { graceMs: 0, elicitation: true, readyTimeoutMs: 30_000 })
    client = await connect(server.url, (message) => {
      forms.push(message)
      return { action: 'accept', content: { decision } }
    })
    // Whoever asks for the tools waits until every server has brought its own, or failed.
    await client.listTools()
  })
  afterAll(async () => {
    await client.close()
    await server.close()
    await hub.close({ abort: true })
    rmSync(folder, { recursive: true, force: true })
  })

  it('shows the tools of all of them and its own at one endpoint, whichever is down', async () => {
    const { tools } = await client.listTools()
    const names = tools.map(({ name }) => name)
    const wanted = ['core_fs_readText', 'core_util_hash_sha256Text', 'mcp_every_echo', 'mcp_memory_read_graph']
    expect(names).toEqual(expect.arrayContaining(wanted))
    expect(names.filter((name) => name.startsWith('mcp_broken'))).toEqual([])
    expect(names).toEqual(names.toSorted())
  })

  it('calls one of each', async () => {
    forms.length = 0
    const results = await Promise.all([
      call('mcp_every_get-sum', { a: 2, b: 3 }),
      call('mcp_memory_read_graph'),
      call('core_util_hash_sha256Text', { text: 'hello' }),
      call('mcp_broken_anything'),
    ])
    expect(results.slice(0, 3)).toEqual([
      [false, expect.stringContaining('2 and 3 is 5')],
      [false, expect.stringContaining('"relations":[]')],
      [false, expect.stringContaining('2cf24dba')],
    ])
    expect(results[3]).toEqual([
      true,
      expect.stringMatching(/^UPSTREAM_ERROR: broken ended with exit code 3\. .*licence/),
    ])
    expect(forms).toEqual([])
  })

  it('keeps from one what a rule denies, and asks the client about another', async () => {
    expect(await call('mcp_every_get-env')).toEqual([true, expect.stringMatching(/^POLICY_DENIED: .*stays here/)])
    forms.length = 0
    decision = 'allow'
    expect(await call('mcp_memory_create_entities', entities('Ada'))).toEqual([false, expect.stringContaining('Ada')])
    decision = 'deny'
    const refused = await call('mcp_memory_create_entities', entities('Eve'))
    expect(refused).toEqual([true, expect.stringMatching(/^APPROVAL_DENIED: mcp:agent refused/)])
    expect(forms.map((form) => form.split('\n')[0])).toEqual(Array(2).fill('May mcp/memory.create_entities run?'))
    const [, graph] = await call('mcp_memory_read_graph')
    expect([graph.includes('Ada'), graph.includes('Eve')]).toEqual([true, false])
  })

  it('ends the call of one that is killed, continues with the others, and restarts it for the next', async () => {
    const before = pids().length
    const others: Promise<Told>[] = []
    const kill = () => {
      if (others.length > 0) return
      process.kill(pids().at(-1)!, 'SIGKILL')
      others.push(call('mcp_memory_read_graph'), call('core_util_hash_sha256Text', { text: 'hello' }))
    }
    const killed = await call(
      'mcp_every_trigger-long-running-operation',
      { duration: 20, steps: 400 },
      { onprogress: kill },
    )
    expect(killed).toEqual([true, expect.stringMatching(/^UPSTREAM_ERROR: every /)])
    expect(await Promise.all(others)).toEqual([
      [false, expect.stringContaining('"relations":[]')],
      [false, expect.stringContaining('2cf24dba')],
    ])
    expect(await call('mcp_every_echo', { message: 'back' })).toEqual([false, 'Echo: back'])
    expect(new Set(pids()).size).toBe(before + 1)
  })

  it('has all that a client did, wherever, in one record', async () => {
    const auditor = await connect(server.url, () => ({ action: 'accept', content: { decision: 'deny' } }), 'auditor')
    await call('core_util_time_now', {}, { by: auditor })
    await call('mcp_every_echo', { message: 'x' }, { by: auditor })
    await call('mcp_memory_delete_entities', { entityNames: ['Ada'] }, { by: auditor })
    await call('mcp_broken_anything', {}, { by: auditor })
    await auditor.close()
    const runs = await Promise.all(readdirSync(join(hub.folder, 'runs')).map((run) => callsOf(run, 'mcp:auditor')))
    expect(runs.filter((calls) => calls.length > 0)).toEqual([
      [
        'core/util.time.now ok',
        'mcp/every.echo ok',
        'mcp/memory.delete_entities denied APPROVAL_DENIED',
        'mcp_broken_anything error UPSTREAM_ERROR',
      ],
    ])
  })

  type Told = readonly [isError: boolean, text: string]

  async function call(
    name: string,
    args: Record<string, unknown> = {},
    { onprogress, by = client }: { readonly onprogress?: () => void; readonly by?: Client } = {},
  ): Promise<Told> {
    const { isError, content } = await by.callTool({ name, arguments: args }, { onprogress })
    return [isError === true, content.map((block) => (block.type === 'text' ? block.text : block.type)).join('\n')]
  }

  async function callsOf(run: string, caller: string): Promise<string[]> {
    const events = await eventsOf(hub, run)
    const own = new Set(events.flatMap((event) => ('caller' in event && event.caller === caller ? [event.callId] : [])))
    return events.flatMap((event) => {
      if (event.type !== 'call-ended' || !own.has(event.callId)) return []
      return [[event.tool, event.status, event.error?.code].filter(Boolean).join(' ')]
    })
  }
})

const entities = (name: string) => ({ entities: [{ name, entityType: 'person', observations: [] }] })

async function connect(
  url: string,
  onForm: (message: string) => { action: 'accept'; content: { decision: string } },
  name = 'agent',
): Promise<Client> {
  const options: ClientOptions = {
    versionNegotiation: { mode: { pin: '2026-07-28' } },
    capabilities: { elicitation: { form: {} } },
  }
  const client = new Client({ name, version: '1.0.0' }, options)
  client.setRequestHandler('elicitation/create', ({ params }) => onForm(params.message))
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  return client
}
