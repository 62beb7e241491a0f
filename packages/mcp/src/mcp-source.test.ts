import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ToolError } from '@tool-hub/core/errors'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RunningProgram } from '../../core/src/commands.ts'
import type { SourceHost } from '../../core/src/source.ts'
import { type TestHub, testHub } from '../../testing/src/tool-contract.ts'
import { testServer } from './manage/test-server.ts'
import { createMcpSource, type McpSource } from './mcp-source.ts'

const packages = new URL('../../../node_modules/@modelcontextprotocol/', import.meta.url)
const entry = (name: string) => fileURLToPath(new URL(`${name}/dist/index.js`, packages))
const modern = fileURLToPath(new URL('../../../test/support/modern-mcp-server.mjs', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'tool-hub-mcp-'))

describe('real servers behind a hub', () => {
  let hub: TestHub
  let source: McpSource
  let host: SourceHost
  const programs: { readonly argv: readonly string[]; readonly program: RunningProgram }[] = []
  const questions: unknown[] = []
  const asked: string[] = []

  beforeAll(async () => {
    writeFileSync(join(folder, 'note.txt'), 'hello')
    source = createMcpSource(
      {
        every: {
          command: process.execPath,
          args: [entry('server-everything'), 'stdio'],
          env: { GREETING: 'hi ${NAME:-you}', API_TOKEN: '${secret:api}' },
          trust: true,
        },
        files: { command: process.execPath, args: [entry('server-filesystem'), '${FOLDER}'] },
        modern: { command: process.execPath, args: [modern] },
        memory: {
          command: process.execPath,
          args: [entry('server-memory')],
          env: { MEMORY_FILE_PATH: join(folder, 'm.jsonl') },
        },
      },
      { env: { FOLDER: folder } },
    )
    const start = source.start.bind(source)
    source.start = (given) => {
      host = given
      return start({
        ...given,
        startProgram: async (request) => {
          const program = await given.startProgram(request)
          programs.push({ argv: request.argv, program })
          return program
        },
      })
    }
    hub = testHub({
      sources: [source],
      secrets: { api: { value: 'sesame-open-up', hosts: ['example.org'] } },
      approve: ({ tool, targets }) => {
        asked.push(`${tool} ${targets.join()}`)
        return { decision: 'allow' }
      },
      onQuestion: (question) => {
        questions.push(question)
        return { name: 'Ada', check: true }
      },
    })
    await hub.ready({ all: true })
  })
  afterAll(async () => {
    await hub.close()
    rmSync(folder, { recursive: true, force: true })
  })

  it('connects all of them, and finds out which protocol they speak', () => {
    const status = source.status().map(({ name, state, era, problem }) => [name, state, era, problem?.message])
    const eras = { every: 'legacy', files: 'legacy', modern: 'modern', memory: 'legacy' }
    expect(status).toEqual(Object.entries(eras).map(([name, era]) => [name, 'connected', era, undefined]))
  })

  it('calls by canonical and by wire name, and finds no tool that is not there', async () => {
    const results = await Promise.all(
      ['mcp/every.echo', 'mcp_every_echo'].map((name) => hub.call(name, { message: 'x' })),
    )
    for (const { tool, content } of results)
      expect([tool, content]).toEqual(['mcp/every.echo', [{ type: 'text', text: 'Echo: x' }]])
    const missing = await hub.call('mcp/every.ecco', {})
    expect(missing.error).toMatchObject({
      code: 'TOOL_NOT_FOUND',
      fix: { hint: expect.stringContaining('mcp/every.echo') },
    })
  })

  it('asks for what acts elsewhere, with its target, but not for what a trusted server says only reads', async () => {
    asked.length = 0
    const read = await hub.call('mcp/files.read_text_file', { path: join(folder, 'note.txt') })
    expect(read).toMatchObject({ ok: true, meta: { labels: ['untrusted'] } })
    await hub.call('mcp/every.get-sum', { a: 1, b: 2 })
    expect(asked).toEqual(['mcp/files.read_text_file remote mcp:files/read_text_file'])
  })

  it('gives structured data in the form that the server promised', async () => {
    const result = await hub.call('mcp/every.get-structured-content', { location: 'New York' })
    expect(result.data).toEqual({ temperature: 33, conditions: 'Cloudy', humidity: 82 })
    expect(JSON.parse((result.content[0] as { text: string }).text)).toEqual(result.data)
  })

  it('lets pictures, documents and links come through', async () => {
    const types = async (tool: string, input: object) =>
      (await hub.call(`mcp/every.${tool}`, input)).content.map(({ type }) => type)
    expect(await types('get-tiny-image', {})).toEqual(['text', 'image', 'text'])
    expect(await types('get-resource-reference', { resourceType: 'Text', resourceId: 1 })).toContain('resource')
    expect(await types('get-resource-links', { count: 2 })).toEqual(['text', 'resource-link', 'resource-link'])
  })

  it('checks arguments before a server sees them, and tells what a server says against them', async () => {
    expect((await hub.call('mcp/every.get-sum', { a: 'one' })).error?.code).toBe('INPUT_SCHEMA_INVALID')
    const outside = await hub.call('mcp/files.read_text_file', { path: '/etc/passwd' })
    expect(outside).toMatchObject({
      ok: false,
      error: { code: 'EXEC_FAILED', message: expect.stringContaining('Access denied') },
    })
  })

  it('gives a server the environment that it was promised and no other, and hides what is secret', async () => {
    const result = await hub.call('mcp/every.get-env', {})
    const env = JSON.parse((result.content[0] as { text: string }).text)
    expect(env.GREETING).toBe('hi you')
    expect(Object.keys(env)).not.toContain('VITEST')
    expect(JSON.stringify(result)).not.toContain('sesame')
  })

  it('passes progress on', async () => {
    const told: string[] = []
    for await (const event of hub.stream('mcp/every.trigger-long-running-operation', { duration: 0.02, steps: 2 })) {
      if (event.type === 'call-progressed') told.push((event.content[0] as { text: string }).text)
    }
    expect(told).toEqual(['1 of 2', '2 of 2'])
  })

  it('puts the questions of a server to the person behind the call', async () => {
    const result = await hub.call('mcp/every.trigger-elicitation-request', {})
    expect(questions[0]).toMatchObject({
      question: 'The MCP server every asks: Please provide inputs for the following fields:',
      form: { type: 'object', properties: { name: { type: 'string' } } },
    })
    expect(JSON.stringify(result.content)).toContain('Ada')
  })

  it('does not guess for which of several runs a server asks', async () => {
    const stop = new AbortController()
    const begun = new Promise<void>((resolve) => {
      const onEvent = (event: { type: string }) => event.type === 'call-progressed' && resolve()
      const long = { duration: 20, steps: 400 }
      void hub.call('mcp/every.trigger-long-running-operation', long, { run: 'one', signal: stop.signal, onEvent })
    })
    await begun
    questions.length = 0
    const result = await hub.call('mcp/every.trigger-elicitation-request', {}, { run: 'two' })
    stop.abort()
    expect(questions).toEqual([])
    expect(result.meta.notices?.[0]).toContain('for which of 2 calls')
    expect(JSON.stringify(result.content)).toContain('cancel')
  })

  it('is notified of new tools in the newest protocol too', async () => {
    expect((await hub.call('mcp/modern.echo', { message: 'new' })).content).toEqual([{ type: 'text', text: 'new' }])
    await hub.call('mcp/modern.grow', {})
    await expect.poll(() => source.status().flatMap(({ changed = [] }) => changed)).toEqual(['mcp/modern.more'])
    expect(await source.acceptDefinitions('modern')).toEqual(['more'])
    expect(hub.cards().some(({ tool }) => tool === 'mcp/modern.more')).toBe(true)
  })

  it('tells of an address that a server wants opened, and opens none', async () => {
    const input = { url: 'https://example.org/sign', elicitationId: 'one' }
    const declined = await hub.call('mcp/every.trigger-url-elicitation', input)
    expect(declined.meta.notices?.[0]).toContain('https://example.org/sign')
    const failed = await hub.call('mcp/every.trigger-url-elicitation', { ...input, errorPath: true })
    expect(failed.error?.fix.hint).toMatch(/in a browser.*https:\/\//)
  })

  it('stops a call that is aborted', async () => {
    const stop = new AbortController()
    const calling = hub.call(
      'mcp/every.trigger-long-running-operation',
      { duration: 20, steps: 400 },
      {
        signal: stop.signal,
        onEvent: (event) => event.type === 'call-progressed' && stop.abort(),
      },
    )
    expect((await calling).status).toBe('aborted')
  })

  it('ends calls of a server that is killed, starts it again, and leaves the others alone', async () => {
    const { program } = programs.find(({ argv }) => argv.includes('stdio'))!
    const calling = hub.call(
      'mcp/every.trigger-long-running-operation',
      { duration: 20, steps: 400 },
      {
        onEvent: (event) => {
          if (event.type === 'call-progressed') void program.stop({ graceMs: 0 })
        },
      },
    )
    expect((await calling).error).toMatchObject({ code: 'UPSTREAM_ERROR', retryable: true })
    const [again, memory] = await Promise.all([
      hub.call('mcp/every.echo', { message: 'back' }),
      hub.call('mcp/memory.create_entities', { entities: [{ name: 'a', entityType: 'b', observations: [] }] }),
    ])
    expect([again.ok, memory.ok]).toEqual([true, true])
    expect(programs).toHaveLength(5)
  })

  it('can be looked at without a hub that keeps it', async () => {
    const server = {
      command: process.execPath,
      args: [entry('server-memory')],
      env: { MEMORY_FILE_PATH: join(folder, 'm.jsonl') },
    }
    const report = await testServer('memory', server, host)
    expect(report).toMatchObject({ ok: true, era: 'legacy', info: { name: 'memory-server' }, leftOut: [] })
    expect(report.ok && report.tools.map(({ name }) => name)).toContain('mcp/memory.read_graph')
    const failed = await testServer('none', { command: 'no-such-program-anywhere' }, host)
    expect(failed.ok).toBe(false)
  })

  it('tells what a server said before it broke off, without secrets, and what to do by hand', async () => {
    const args = ['-e', 'console.error("no", process.env.WORD); process.exit(3)']
    const report = await testServer('x', { command: 'node', args, env: { WORD: '${secret:api}' } }, host)
    const { problem } = report as { problem: ToolError }
    expect(problem.message).toMatch(/ended with exit code 3\. It said: no \[redacted:/)
    expect(problem.fix.hint).toMatch(/^Run it by hand: node -e '/)
  })
})
