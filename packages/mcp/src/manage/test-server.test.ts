import type { ToolError } from '@tool-hub/core/errors'
import { expect, it } from 'vitest'
import { type Received, type Script, scriptedHost } from '../../../../test/support/scripted-mcp-server.ts'
import type { McpServer } from '../../../core/src/mcp-server.ts'
import type { SourceHost } from '../../../core/src/source.ts'
import { testServer } from './test-server.ts'

const program = { command: 'node', args: ['server.js', 'two words', "it's", 'a;b', ''] }

function open(tools: object[], script: Script = {}, others: Partial<SourceHost> = {}) {
  const reply = ({ method }: Received) => (method === 'tools/list' ? { result: { tools } } : undefined)
  const redact = (text: string) => text.replaceAll('sesame', '[redacted]')
  const scripted = scriptedHost({ reply, ...script }, { redact, ...others })
  const look = (server: McpServer = program, name = 's') => testServer(name, server, scripted.host, {})
  const problem = async (server?: McpServer, name?: string) =>
    ((await look(server, name)) as { problem: ToolError }).problem
  return { ...scripted, look, problem }
}

it('reports what a server is and has, without secrets, and disconnects', async () => {
  const { look, programs, clock } = open([
    { name: 'go', title: 'Go sesame', description: 'Reads sesame.', annotations: {} },
    { name: 'sesame', inputSchema: 'none' },
  ])
  expect(await look()).toEqual({
    ok: true,
    era: 'legacy',
    info: { name: 'scripted', version: '7' },
    tools: [
      {
        name: 'mcp/s.go',
        title: 'Go [redacted]',
        description: 'Reads [redacted].',
        capabilities: ['remote'],
        drift: undefined,
        doubt: undefined,
        isNew: false,
      },
    ],
    leftOut: [{ tool: '[redacted]', why: 'its arguments are no object' }],
    connectMs: 0,
    listMs: 0,
  })
  expect(await programs[0]!.ended).toMatchObject({ signal: 'SIGTERM' })
  // The end of a program is waited for half a second; the limit of 30 seconds is over.
  await clock.advance(500)
  expect(clock.waiting).toBe(0)
})

it('measures how long it took, by the clock of the hub', async () => {
  const times = [1_000, 1_030, 1_100]
  const { look, clock } = open([])
  // The first look at the time is the start, then the connection, then the list; nothing is pinned of no tools.
  clock.now = () => (times.length > 1 ? times.shift()! : times[0]!)
  expect(await look()).toMatchObject({ connectMs: 30, listMs: 70 })
})

it('reports what changed and what is new', async () => {
  const tools = [{ name: 'go', description: 'Reads.' }]
  const { look } = open(tools)
  await look()
  tools[0]!.description = 'Deletes sesame.'
  tools.push({ name: 'more', description: 'New\u{200b}.' })
  const report = await look()
  expect(report).toMatchObject({
    ok: true,
    tools: [
      { name: 'mcp/s.go', description: 'Reads.', isNew: false, drift: expect.stringContaining('+Deletes [redacted].') },
      {
        name: 'mcp/s.more',
        description: 'New.',
        capabilities: ['remote'],
        isNew: true,
        drift: expect.stringMatching(/^its server added it/),
      },
    ],
  })
  for (const { doubt, drift } of (report as Extract<typeof report, { ok: true }>).tools) expect(doubt).toBe(drift)
})

it('says why a server does not come up, and how to run it by hand', async () => {
  const { look, problem } = open([], {
    onStart: (started) => {
      started.say('no sesame')
      setImmediate(() => started.exit(3))
      return false
    },
  })
  expect(await look()).toMatchObject({ ok: false, ms: 0 })
  expect(await problem()).toMatchObject({
    code: 'UPSTREAM_ERROR',
    message: 's ended with exit code 3. It said: no [redacted]',
    fix: { hint: `Run it by hand: node server.js 'two words' 'it'\\''s' 'a;b' ''` },
    retryable: true,
    cause: { message: 's ended with exit code 3. It said: no sesame' },
  })
  expect(await problem({ command: '/opt/a-b_c/x@1%+=:,.' })).toMatchObject({
    fix: { hint: 'Run it by hand: /opt/a-b_c/x@1%+=:,.' },
  })
  expect(await problem({ command: 'sesame', args: ['a\nb', '-x y'] })).toMatchObject({
    fix: { hint: `Run it by hand: [redacted] 'a\\nb' '-x y'` },
  })
})

it('says why a server broke while it listed its tools', async () => {
  const { problem } = open([], { reply: (_, started) => void started.exit(5) })
  expect((await problem()).message).toBe('s ended with exit code 5.')
})

it('gives up a server that takes too long', async () => {
  for (const [startTimeoutMs, timeoutMs] of [
    [undefined, 30_000],
    [5_000, 5_000],
  ] as const) {
    const { problem, clock, programs } = open([], { onStart: () => false })
    const failed = problem({ command: 'node', startTimeoutMs })
    await expect.poll(() => programs.length).toBe(1)
    await clock.advance(timeoutMs)
    expect(await failed).toMatchObject({
      code: 'TIMEOUT',
      message: `s did not connect and list its tools within ${timeoutMs} ms.`,
      fix: { hint: 'Raise startTimeout of mcpServers.s, or see whether its command works by hand.' },
    })
    const silent = open([], { reply: () => undefined })
    const listing = silent.problem({ command: 'node', startTimeoutMs })
    await expect.poll(() => silent.programs[0]?.received.at(-1)?.method).toBe('tools/list')
    await silent.clock.advance(timeoutMs)
    expect(await listing).toMatchObject({ code: 'TIMEOUT' })
  }
})

it('says where a service should answer, without its query', async () => {
  const webFetch = () => async () => new Response('busy', { status: 503 })
  const { problem } = open([], {}, { webFetch })
  expect(await problem({ url: 'https://mcp.example/sesame?key=1', oauth: false })).toMatchObject({
    fix: { hint: 'See whether it answers at https://mcp.example/[redacted], and what it logs.' },
  })
})

it('refuses what cannot name a server', async () => {
  const { problem, programs } = open([])
  expect(await problem(program, 'no way')).toMatchObject({
    code: 'CONFIG_INVALID',
    fix: { hint: expect.stringContaining('at most 32') },
  })
  expect(programs).toEqual([])
})
