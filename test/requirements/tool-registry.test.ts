import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  createExecutor,
  type HandlerOutput,
  type HandlerTool,
  type HubOptions,
} from '../../packages/library/src/index.ts'
import { fakeClock, testHub } from '../../packages/testing/src/index.ts'
import { realHub } from '../support/real-hub.ts'

const EVERYTHING = fileURLToPath(
  new URL('../../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url),
)

/** The `ReadFileTool` of the document, with its handler. */
const ReadFileTool: HandlerTool = {
  name: 'read_file',
  description: '读取文件内容',
  parameters: {
    type: 'object',
    properties: {
      path: { type: 'string', description: '文件路径' },
      start_line: { type: 'integer', description: '起始行号（可选，1-indexed）' },
      end_line: { type: 'integer', description: '结束行号（可选）' },
    },
    required: ['path'],
  },
  handler: readFileHandler,
  category: 'file',
  tags: ['file', 'read'],
  version: '1.0.0',
  default_timeout: '10s',
  max_output_size: 1024 * 1024,
}

interface ReadFileArgs {
  readonly path: string
  readonly start_line?: number
  readonly end_line?: number
}

async function readFileHandler(_: unknown, { path, start_line, end_line }: ReadFileArgs): Promise<HandlerOutput> {
  let content: string
  try {
    content = await readFile(path, 'utf8')
  } catch (error) {
    return { content: `Error reading file: ${(error as Error).message}`, is_error: true }
  }
  const all = content.split('\n')
  const lines = start_line || end_line ? all.slice((start_line ?? 1) - 1, end_line) : all
  return { content: lines.join('\n'), is_error: false, metadata: { lines: lines.length } }
}

/** A hub that has the tool of the document, and a rule for it. */
function withReadFile(tool: Partial<HandlerTool> = {}, files = {}, options: HubOptions = {}) {
  const opened = realHub({ policy: [{ allow: 'read_file' }], ...options }, files)
  opened.hub.registry.register({ ...ReadFileTool, ...tool })
  return opened
}

describe('the registry of a tool module', () => {
  it('built-in tools, those of MCP servers and custom ones are found in one registry and pass one gate', async () => {
    const { hub, call, text, root } = withReadFile(
      {},
      { 'a.txt': 'custom' },
      {
        policy: [{ allow: 'read_file' }, { allow: 'mcp/every.echo' }, { deny: 'mcp/every.get-env' }],
        mcpServers: { every: { command: process.execPath, args: [EVERYTHING, 'stdio'] } },
      },
    )
    await hub.ready({ all: true })
    const kinds = new Map(hub.list().map(({ name, kind }) => [name, kind]))
    expect(['core/fs.listDir', 'mcp/every.echo', 'read_file'].map((name) => kinds.get(name))).toEqual([
      'core',
      'mcp',
      'handler',
    ])
    expect(await text('list_files', {})).toBe('a.txt  6 bytes')
    expect(await text('mcp/every.echo', { message: 'server' })).toBe('Echo: server')
    expect(await text('read_file', { path: join(root, 'a.txt') })).toBe('custom')
    hub.setPolicy([{ deny: 'core/fs.listDir' }, { deny: 'mcp/every.echo' }, { deny: 'read_file' }])
    for (const [tool, input] of [
      ['list_files', {}],
      ['mcp/every.echo', { message: 'server' }],
      ['read_file', { path: 'a.txt' }],
    ] as const)
      expect((await call(tool, input)).error?.code, tool).toBe('POLICY_DENIED')
  })

  it('Register takes a tool or fails, Get finds it, List and ListForLLM show all', () => {
    const { hub } = realHub()
    const { registry } = hub
    const count = registry.list().length
    expect(registry.get('no_such_tool')).toBeUndefined()
    const own = { ...ReadFileTool, name: 'read_part' }
    registry.register(own)
    expect(registry.get('read_part')).toMatchObject({ name: 'read_part', description: '读取文件内容' })
    expect(registry.list()).toHaveLength(count + 1)
    expect(registry.list()).toContain(registry.get('read_part'))
    expect(registry.listForLLM().find(({ name }) => name === 'read_part')).toEqual({
      name: 'read_part',
      description: '读取文件内容',
      parameters: expect.objectContaining(ReadFileTool.parameters),
    })
    for (const wrong of [own, { ...own, name: 'no name' }, { ...own, name: 'read_two', handler: undefined as never }])
      expect(() => registry.register(wrong), wrong.name).toThrow(expect.objectContaining({ name: 'ToolError' }))
    expect(registry.list()).toHaveLength(count + 1)
    for (const name of ['read_file', 'write_file', 'search_files', 'run_shell', 'list_files']) {
      // As JSON, the definition of a built-in tool has the schema of its arguments, too.
      const { input, output } = JSON.parse(JSON.stringify(registry.get(name)))
      for (const schema of [input, output]) expect(schema, name).toMatchObject({ type: 'object', properties: {} })
    }
  })

  it('a ToolDefinition is taken with all its fields, and its timeout and output size hold', async () => {
    const large = 'line\n'.repeat(300_000)
    const { hub, root, call } = withReadFile({}, { 'large.txt': large })
    expect(hub.registry.get('read_file')).toMatchObject({
      category: 'file',
      tags: ['file', 'read'],
      version: '1.0.0',
      timeoutMs: 10_000,
      maxOutputChars: 1024 * 1024,
    })
    expect(JSON.stringify(hub.registry.listForLLM())).not.toMatch(/handler|ENOENT/)
    const { content, artifacts } = await call('read_file', { path: join(root, 'large.txt') })
    const shown = content[0] as { text: string }
    expect(shown.text.length).toBeLessThanOrEqual(1024 * 1024)
    expect(shown.text.length).toBeGreaterThan(1_000_000)
    expect(Buffer.from(await hub.artifact(artifacts[0]!.ref)).toString()).toBe(large)
    const clock = fakeClock()
    let begin = () => {}
    const begun = new Promise<void>((resolve) => (begin = resolve))
    const handler: HandlerTool['handler'] = ({ signal }) => {
      begin()
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    }
    const slow = withReadFile({ handler }, {}, { clock }).call('read_file', { path: 'a.txt' })
    await begun
    await clock.advance(10_000)
    expect((await slow).error).toMatchObject({ code: 'TIMEOUT', message: expect.stringContaining('10000 ms') })
  })

  it('a handler gets a context and the arguments, and answers with content, is_error and metadata', async () => {
    const { call, root } = withReadFile({}, { 'a.txt': 'one\ntwo\nthree' })
    const read = await call('read_file', { path: join(root, 'a.txt'), start_line: 2, end_line: 3 })
    expect(read).toMatchObject({
      ok: true,
      content: [{ type: 'text', text: 'two\nthree' }],
      data: { content: 'two\nthree', is_error: false, metadata: { lines: 2 } },
    })
    const missing = await call('read_file', { path: join(root, 'missing.txt') })
    expect(missing).toMatchObject({ ok: false, status: 'error', data: { is_error: true } })
    expect(missing.error?.message).toMatch(/^Error reading file: ENOENT/)
    const controller = new AbortController()
    let isStopped = false
    const stoppable = withReadFile({
      handler: ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            isStopped = true
            reject(signal.reason)
          })
          controller.abort()
        }),
    })
    const stopped = await stoppable.call('read_file', { path: 'a.txt' }, { signal: controller.signal })
    expect([stopped.status, isStopped]).toEqual(['aborted', true])
  })

  it('a ToolResult has tool_call_id, content and is_error', async () => {
    const { hub, root } = withReadFile({}, { 'a.txt': 'one\ntwo' })
    const read = (id: string, path: string) =>
      createExecutor(hub).execute({ id, name: 'read_file', arguments: { path: join(root, path) } })
    expect(await read('call_1', 'a.txt')).toEqual({ tool_call_id: 'call_1', content: 'one\ntwo', is_error: false })
    expect(await read('call_2', 'b.txt')).toEqual({
      tool_call_id: 'call_2',
      content: expect.stringMatching(/^Error reading file: ENOENT/),
      is_error: true,
    })
  })

  it('tests replace a tool, the policy gate and the clock of a real hub', async () => {
    const seen: unknown[] = []
    const mock: HandlerTool = {
      ...ReadFileTool,
      handler: (_, args) => {
        seen.push(args)
        return { content: 'from the mock', is_error: false, metadata: {} }
      },
    }
    const withGate = (effect: 'allow' | 'ask' | 'deny', decision: 'allow' | 'deny' = 'allow') => {
      const clock = fakeClock()
      const policy = effect === 'allow' ? [{ allow: 'read_file' }] : effect === 'ask' ? [{ ask: 'read_file' }] : []
      const hub = testHub({ clock, policy, approve: () => ({ decision }) })
      onTestFinished(() => hub.close())
      hub.registry.register(mock)
      return createExecutor(hub).execute({ id: 'c', name: 'read_file', arguments: '{"path":"a.txt"}' })
    }
    const answer = { tool_call_id: 'c', content: 'from the mock', is_error: false }
    expect([await withGate('allow'), await withGate('ask')]).toEqual([answer, answer])
    expect(seen).toEqual([{ path: 'a.txt' }, { path: 'a.txt' }])
    await expect(withGate('ask', 'deny')).rejects.toMatchObject({ code: 'APPROVAL_DENIED' })
    await expect(withGate('deny')).rejects.toMatchObject({ code: 'POLICY_DENIED' })
    expect(seen).toHaveLength(2)
    // Without a gate of its own, a test need not answer: what policy asks is allowed, on record.
    const plain = testHub({ policy: [{ ask: 'read_file' }] })
    onTestFinished(() => plain.close())
    plain.registry.register(mock)
    const unasked = await plain.callDynamic('read_file', { path: 'b.txt' })
    expect(unasked).toMatchObject({ ok: true, meta: { approvedBy: 'testHub' } })
    expect(seen).toHaveLength(3)
    const time = testHub({ clock: fakeClock(Date.UTC(2026, 0, 1)) })
    onTestFinished(() => time.close())
    expect((await time.call('core/util.time.now', {})).data).toMatchObject({ iso: '2026-01-01T00:00:00.000Z' })
  })
})
