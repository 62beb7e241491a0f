import { join } from 'node:path'
import { createClient } from '@tool-hub/client'
import { startService } from '@tool-hub/server'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  ERRORS,
  type ErrorCode,
  type ToolEvent,
  type ToolResult,
  toSummaryResult,
  toToolEvents,
} from '../../packages/library/src/index.ts'
import { configuredHub } from '../support/configured-hub.ts'
import { useLoopback } from '../support/loopback.ts'
import { LOOPBACK, realHub } from '../support/real-hub.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const local = useLoopback()
const EXEC = 'sandbox: { root: ./project }\npolicy: [{ allow: exec }]\n'
const LINES = 9_000
const LONG = Array.from({ length: LINES }, (_, index) => `row ${index + 1} of a long report`).join('\n')
const FILES = { 'project/a.txt': 'hello', 'project/long.txt': LONG }

const textOf = ({ content }: ToolResult) =>
  content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('\n')

describe('results and records of toolsets', () => {
  it('a result has ok, summary, data, artifacts and error; large data is an artifact and in no log', async () => {
    const { hub, call, read } = await configuredHub(EXEC, FILES)
    const good = toSummaryResult(await call('read_file', { path: 'a.txt' }))
    expect(good).toMatchObject({ ok: true, summary: expect.stringContaining('a.txt'), data: { text: 'hello' } })
    expect(Object.keys(good).sort()).toEqual(['artifacts', 'data', 'ok', 'summary'])
    const bad = toSummaryResult(await call('read_file', { path: 'none.txt' }))
    expect(bad).toMatchObject({ ok: false, summary: expect.stringContaining('none.txt'), error: { code: 'NOT_FOUND' } })
    expect(Object.keys(bad).sort()).toEqual(['artifacts', 'error', 'ok', 'summary'])
    const large = await call('run_shell', { command: 'cat long.txt' })
    const { ok, summary, artifacts } = toSummaryResult(large)
    expect([ok, summary.length <= 200]).toEqual([true, true])
    const whole = artifacts.map(async ({ ref }) => Buffer.from(await hub.artifact(ref)).toString())
    expect((await Promise.all(whole)).some((text) => text.includes('row 4500 of a long report'))).toBe(true)
    // The reference is in the answer, and the agent opens it with its own tools.
    const [ref = ''] = /artifact:[0-9a-f]{64}/.exec(textOf(large)) ?? []
    expect(artifacts.map((artifact) => artifact.ref)).toContain(ref)
    expect(textOf(await call('grep_files', { pattern: 'row 4500 ', path: ref }))).toContain('row 4500 of a long report')
    await hub.endRun(hub.run)
    for (const file of ['events.jsonl', 'logs/tools.jsonl', 'logs/errors.jsonl']) {
      const log = read(join('runs', hub.run, file))
      expect([file, log.length < 20_000]).toEqual([file, true])
      expect([file, log.match(/row \d+ of a long report/g)]).toEqual([file, null])
    }
    expect(read(join('runs', hub.run, 'logs/tools.jsonl'))).toContain(ref)
  })

  it('every call is on record, also what was refused, not found, malformed or stopped', async () => {
    const { call, record } = await configuredHub('sandbox: { root: ./project }\n', FILES)
    const results = [
      await call('read_file', { path: 'a.txt' }),
      await call('read_file', { path: 'none.txt' }),
      await call('read_file', { path: '../tool-hub.yaml' }),
      await call('read_file', { file: 1 }),
      await call('run_shell', { command: 'ls' }),
      await call('read_files', {}),
      await call('read_file', { path: 'a.txt' }, { signal: AbortSignal.abort() }),
      ...(await Promise.all([1, 2, 3].map((part) => call('write_file', { path: `${part}.txt`, content: 'x' })))),
    ]
    const codes = results.map(({ status, error }) => error?.code ?? status)
    expect(codes.slice(0, 6)).toEqual([
      ...['ok', 'NOT_FOUND', 'PATH_OUTSIDE_SANDBOX', 'INPUT_SCHEMA_INVALID', 'POLICY_DENIED', 'TOOL_NOT_FOUND'],
    ])
    expect(results[6]?.status).toBe('aborted')
    const logged = await record('logs/tools.jsonl')
    const byId = (a: unknown[], b: unknown[]) => (String(a[0]) < String(b[0]) ? -1 : 1)
    expect(logged.map(({ callId, status }) => [callId, status]).sort(byId)).toEqual(
      results.map(({ callId, status }) => [callId, status]).sort(byId),
    )
    for (const line of logged)
      expect(line).toMatchObject({ tool: expect.any(String), time: expect.any(String), durationMs: expect.any(Number) })
  })

  it('a large output is cut by default, says so, and keeps its beginning and its end', async () => {
    const { call } = await configuredHub(EXEC, FILES)
    const output = await call('run_shell', { command: 'cat long.txt' })
    const shown = textOf(output)
    expect(shown.length).toBeLessThanOrEqual(31_000)
    expect(shown).toContain('row 1 of a long report')
    expect(shown).toContain(`row ${LINES} of a long report`)
    expect(shown).not.toContain('row 4500 of')
    expect(shown).toMatch(/artifact:[0-9a-f]{64}/)
    expect(output.summary.length).toBeLessThanOrEqual(200)
    // A search stops at 1,000 matches and says so; with limits.output, files and searches are cut by it, too.
    const found = textOf(await call('grep_files', { pattern: 'row', path: '.' }))
    expect(found.match(/^long\.txt:\d+:row/gm)).toHaveLength(1_000)
    expect(found.split('\n').at(-1)).toMatch(/1,?000/)
    const bounded = await configuredHub(`${EXEC}limits: { output: 10KB }\n`, FILES)
    for (const [tool, input] of [
      ['read_file', { path: 'long.txt' }],
      ['grep_files', { pattern: 'row', path: '.' }],
      ['run_shell', { command: 'cat long.txt' }],
    ] as const) {
      const text = textOf(await bounded.call(tool, input))
      expect([tool, text.length <= 10_500, text.includes('row 1 of')]).toEqual([tool, true, true])
    }
  })

  it('a read is bounded, every duration is recorded, and a tool keeps nothing between calls', async () => {
    const megabytes = (count: number) => `${'x'.repeat(999)}\n`.repeat(count * 1_000)
    const files = { 'a.txt': 'hello', '2mb.txt': megabytes(2), '6mb.txt': megabytes(6) }
    const { call, hub, record, root } = realHub({}, files)
    const page = await call('read_file', { path: '2mb.txt' })
    expect(page.data).toMatchObject({ page: { from: 1, to: 1_048, next: 1_049 } })
    expect(textOf(page)).toMatch(/\[Showing lines 1-1048 of 2000\. Use start_line=1049 to read on\.\]$/)
    expect(textOf(await call('read', { path: '2mb.txt' })).length).toBeLessThanOrEqual(30_000)
    expect((await call('core/fs.readText', { path: '6mb.txt' })).error?.code).toBe('FILE_TOO_LARGE')
    // The same question has the same answer: in another run, another hub, and many at the same time.
    const ask = { path: 'a.txt' }
    const other = realHub({ sandbox: { root } })
    const answers = await Promise.all([
      ...Array.from({ length: 10 }, () => call('read_file', ask)),
      hub.callDynamic('read_file', ask, { run: 'another' }),
      other.call('read_file', ask),
    ])
    for (const { data } of answers) expect(data).toEqual(answers[0]!.data)
    expect(answers[0]!.data).toMatchObject({ path: 'a.txt', text: 'hello', bytes: 5 })
    const logged = await record('logs/tools.jsonl')
    expect(logged).toHaveLength(13)
    const measured = new Map([page, ...answers].map(({ callId, meta }) => [callId, meta.durationMs]))
    for (const { callId, durationMs } of logged) {
      expect(durationMs).toBeGreaterThan(0)
      if (measured.has(callId as string)) expect(durationMs).toBe(measured.get(callId as string))
    }
  })

  it('permissions of tools can be queried for placement, and tool events feed monitoring and retry analysis', async () => {
    const folder = temporaryFolder('monitored')
    const service = await startService(
      { runs: join(folder, 'runs'), data: join(folder, 'data') },
      { port: 0, shutdownMs: 1_000 },
    )
    onTestFinished(() => service.close())
    const client = createClient({ url: service.url, token: service.token })
    const tools = new Map((await client.tools()).map(({ tool, capabilities }) => [tool, capabilities]))
    expect(tools.get('core/fs.readText')).toEqual(['read:fs'])
    expect(tools.get('core/exec.run')).toContain('exec')
    // What a retry analysis needs: how often a call was tried.
    local.answer = (_, response) => response.writeHead(503).end()
    const { hub } = realHub({ sandbox: LOOPBACK })
    const ended: ToolEvent[] = []
    hub.onRecord((line) => ended.push(...toToolEvents(line)))
    const url = `http://127.0.0.1:${local.port}/`
    const live: ToolEvent[] = []
    hub.onEvent((event) => live.push(...toToolEvents(event)))
    await hub.call('core/http.fetchText', { url })
    for (const events of [live, ended]) expect(events.at(-1)).toMatchObject({ type: 'tool.completed', attempts: 3 })
    const controller = new AbortController()
    onTestFinished(() => controller.abort())
    const types = ['tool.started', 'tool.completed', 'tool.failed'] as const
    const events = client.events({ types: [...types], signal: controller.signal })
    let isFollowing = false
    const first = events.next().finally(() => {
      isFollowing = true
    })
    // Events of before the subscription are not sent, so the first ones only show that there is one.
    while (!isFollowing) await client.call('core/util.time.now', {})
    await first
    const calls = [
      await client.call('write_file', { path: 'a.txt', content: 'x' }),
      await client.call('read_file', { path: 'none.txt' }),
      await client.call('run_shell', { command: 'ls' }),
    ]
    const ids = calls.map(({ callId }) => callId)
    const seen: ToolEvent[] = []
    for await (const event of events) {
      const known = event as unknown as ToolEvent
      if (ids.includes(known.callId)) seen.push(known)
      if (known.callId === ids[2]) break
    }
    expect(seen.map(({ type, tool }) => `${type} ${tool}`)).toEqual([
      'tool.started core/fs.writeText',
      'tool.completed core/fs.writeText',
      'tool.started core/fs.readText',
      'tool.failed core/fs.readText',
      'tool.failed core/exec.run',
    ])
    expect(seen[1]).toMatchObject({ status: 'ok', durationMs: expect.any(Number), summary: calls[0]!.summary })
    // What failed, and whether it may succeed when it is tried again.
    const retries = seen.flatMap((event) => (event.type === 'tool.failed' ? [event.error.code as ErrorCode] : []))
    expect(retries.map((code) => [code, ERRORS[code].retryable])).toEqual([
      ['NOT_FOUND', false],
      ['POLICY_DENIED', false],
    ])
    const metrics = await fetch(`${service.url}/metrics`, { headers: { authorization: `Bearer ${service.token}` } })
    expect(await metrics.text()).toMatch(/tool_hub_calls_total\{tool="core\/fs\.readText",status="error"[^}]*\} 1/)
  })
})
