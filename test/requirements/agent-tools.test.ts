import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Static, Type } from '@sinclair/typebox'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { toAnthropic } from '../../packages/adapters/src/anthropic.ts'
import { toOpenAi } from '../../packages/adapters/src/openai.ts'
import {
  type AgentTool,
  type AgentToolResult,
  type AgentToolUpdateCallback,
  type AnyAgentTool,
  createCodingTools,
  createEditTool,
  createExecTool,
  createReadTool,
  createWriteTool,
  fromAgentTool,
  type HubOptions,
  jsonResult,
  toAgentTools,
  toToolDefinitions,
} from '../../packages/library/src/index.ts'
import { realHub } from '../support/real-hub.ts'

const ReadToolSchema = Type.Object({
  file_path: Type.String({ description: '文件路径' }),
  offset: Type.Optional(Type.Number()),
  limit: Type.Optional(Type.Number()),
})
type ReadParams = Static<typeof ReadToolSchema>
interface ReadResult {
  path: string
  lines: number
}

/** The tool of the document, word for word. */
function createDocumentReadTool(): AgentTool<ReadParams, ReadResult> {
  return {
    name: 'read',
    description: '读取文件内容',
    parameters: ReadToolSchema,
    async execute(_toolCallId, params) {
      const content = await readFile(params.file_path, 'utf-8')
      return {
        content: [{ type: 'text', text: content }],
        details: { path: params.file_path, lines: content.split('\n').length },
      }
    },
  }
}

/** A hub that has the tool of the document under its own policy. */
function hubWithDocumentTool(options: HubOptions = {}) {
  const read = fromAgentTool(createDocumentReadTool(), {
    capabilities: ['read:fs'],
    targets: ({ file_path }: ReadParams) => ({ 'read:fs': file_path }),
  })
  const given = realHub({ ...options, tools: [read] }, { 'notes.md': 'one\ntwo\nthree' })
  return { ...given, notes: join(given.root, 'notes.md'), missing: join(given.root, 'missing.md') }
}

const textOf = ({ content }: AgentToolResult) =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join()

describe('the tool interface of an abstraction layer', () => {
  it('a tool is name, label, description, TypeBox parameters and execute(toolCallId, params, signal, onUpdate)', async () => {
    const { hub, notes } = hubWithDocumentTool()
    const [read] = toAgentTools(hub, { names: ['read'] })
    expect(read).toMatchObject({ name: 'read', label: 'read', description: '读取文件内容' })
    expect(read!.parameters).toMatchObject(JSON.parse(JSON.stringify(ReadToolSchema)))
    expect(await read!.execute('call-1', { file_path: notes })).toEqual({
      content: [{ type: 'text', text: 'one\ntwo\nthree' }],
      details: { path: notes, lines: 3 },
    })
    for (const params of [{}, { file_path: 1 }, { file_path: notes, offset: 'first' }])
      expect((await read!.execute('call-2', params)).details).toMatchObject({ status: 'error', tool: 'read' })
    const received: unknown[] = []
    const probe: AgentTool = {
      name: 'probe',
      label: 'Probe',
      description: 'Shows what it is called with.',
      parameters: Type.Object({ input: Type.String() }),
      async execute(...args) {
        received.push(...args)
        args[3]?.({ content: [{ type: 'text', text: 'half' }] })
        return jsonResult({ result: 'ok' })
      },
    }
    const two = realHub({ tools: [fromAgentTool(probe, { capabilities: [] })] }).hub
    const updates: unknown[] = []
    const [shown] = toAgentTools(two, { names: ['probe'] })
    await shown!.execute('call-3', { input: 'x' }, undefined, (update) => updates.push(update))
    expect(shown!.label).toBe('Probe')
    expect(received).toEqual([expect.any(String), { input: 'x' }, expect.any(AbortSignal), expect.any(Function)])
    expect(updates).toEqual([{ content: [{ type: 'text', text: 'half' }] }])
    const twice = () => realHub({ tools: [fromAgentTool(probe), fromAgentTool(probe)] })
    expect(twice).toThrow(/probe/)
  })

  it('a result is content blocks of text and images, and details where the tool has some', async () => {
    const image = { type: 'image', data: 'aGk=', mimeType: 'image/png' } as const
    const returning = (name: string, result: AgentToolResult) =>
      fromAgentTool(
        { name, description: 'Returns a result.', parameters: Type.Object({}), execute: async () => result },
        { capabilities: [] },
      )
    const whole: AgentToolResult = {
      content: [{ type: 'text', text: 'two blocks' }, image],
      details: { pages: [1, 2] },
    }
    const bare: AgentToolResult = { content: [{ type: 'text', text: 'no details' }] }
    const { hub } = realHub({ tools: [returning('whole', whole), returning('bare', bare)] })
    const results = toAgentTools(hub, { names: ['bare', 'whole'] }).map((tool) => tool.execute('call-1', {}))
    expect(await Promise.all(results)).toEqual([bare, whole])
  })

  it('a tool works asynchronously, sends updates while it works, and ends when it is aborted', async () => {
    const { hub, call } = realHub({ policy: [{ allow: 'exec' }] })
    const exec = createExecTool(hub)
    const updates: string[] = []
    let written: Promise<unknown> = Promise.resolve()
    const streamed = await exec.execute(
      'call-1',
      { command: 'echo begun; until [ -e go.txt ]; do sleep 0.05; done; cat go.txt' },
      undefined,
      (update) => {
        if (updates.push(textOf(update)) === 1) written = call('write', { path: 'go.txt', content: 'gone on' })
      },
    )
    await written
    expect(updates[0]).toContain('begun')
    expect(updates[0]).not.toContain('gone on')
    expect(textOf(streamed)).toContain('gone on')
    const controller = new AbortController()
    const command = { command: 'echo begun; sleep 600' }
    const stopped = exec.execute('call-2', command, controller.signal, () => controller.abort())
    await expect(stopped).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }))
  })

  it('read takes file_path, offset and limit, and its details have path and lines', async () => {
    const { hub } = realHub({}, { 'notes.md': 'one\ntwo\nthree' })
    const read = createReadTool(hub)
    const { properties, required } = read.parameters as { properties: Record<string, object>; required: string[] }
    expect(properties.file_path).toMatchObject({ type: 'string', description: expect.any(String) })
    for (const key of ['offset', 'limit']) expect(properties[key]).toMatchObject({ type: 'integer' })
    expect(required).toEqual(['file_path'])
    const whole = await read.execute('call-1', { file_path: 'notes.md' })
    expect(whole.details).toMatchObject({ path: 'notes.md', lines: 3 })
    for (const line of ['one', 'two', 'three']) expect(textOf(whole)).toContain(line)
    const part = await read.execute('call-2', { file_path: 'notes.md', offset: 2, limit: 1 })
    expect(part.details).toMatchObject({ path: 'notes.md', lines: 3 })
    expect(textOf(part)).toContain('two')
    expect(textOf(part)).not.toMatch(/one|three/)
  })

  it('one function returns all coding tools, in the place of createMoltbotCodingTools', async () => {
    const { hub, read } = realHub({ policy: [{ allow: 'exec' }] }, { 'notes.md': 'one' })
    const tools: readonly AnyAgentTool[] = createCodingTools(hub)
    expect(tools.map(({ name }) => name).toSorted()).toEqual([
      ...['apply_patch', 'edit', 'exec', 'process', 'read', 'write'],
    ])
    const definitions = toToolDefinitions(tools)
    const write = definitions.find(({ name }) => name === 'write')!
    const updates: AgentToolResult[] = []
    const onUpdate: AgentToolUpdateCallback = (update) => void updates.push(update)
    await write.execute('call-1', { file_path: 'new.md', content: 'written' }, onUpdate)
    expect(read('new.md')).toBe('written')
    const exec = definitions.find(({ name }) => name === 'exec')!
    await exec.execute('call-2', { command: 'echo shown' }, onUpdate)
    expect(updates.map(textOf).join('')).toContain('shown')
    const { hub: small } = realHub({ visibility: { deny: ['exec', 'process'] } })
    expect(createCodingTools(small).map(({ name }) => name)).not.toContain('exec')
  })

  it('factories create the tools one by one, and one list assembles them', async () => {
    const { hub, read, record } = realHub({ policy: [{ allow: 'exec' }] }, { 'notes.md': 'one\ntwo' })
    const tools = [createReadTool(hub), createWriteTool(hub), createEditTool(hub), createExecTool(hub)]
    expect(tools.map(({ name }) => name)).toEqual(['read', 'write', 'edit', 'exec'])
    const inputs = [
      { file_path: 'notes.md' },
      { file_path: 'new.md', content: 'written' },
      { file_path: 'notes.md', oldString: 'two', newString: '2' },
      { command: 'cat new.md' },
    ]
    const results: string[] = []
    for (const [index, tool] of tools.entries())
      results.push(textOf(await tool.execute(`call-${index}`, inputs[index])))
    expect(results[0]).toContain('two')
    expect([read('new.md'), read('notes.md')]).toEqual(['written', 'one\n2'])
    expect(results[3]).toContain('written')
    const recorded = (await record('logs/tools.jsonl')).map(({ tool, status }) => `${tool} ${status}`)
    expect(recorded).toEqual(['core/fs.readText ok', 'core/fs.writeText ok', 'core/fs.edit ok', 'core/exec.run ok'])
  })

  it('toToolDefinitions: the label falls back to the name, arguments in their order, errors as results', async () => {
    const { hub, notes, missing } = hubWithDocumentTool()
    const named = { ...createDocumentReadTool(), name: 'read2', label: 'Read a file' }
    const [plain, labelled] = toToolDefinitions([createDocumentReadTool(), named])
    const [governed] = toToolDefinitions(hub, { names: ['read'] })
    expect([plain!.label, labelled!.label, governed!.label]).toEqual(['read', 'Read a file', 'read'])
    for (const read of [plain!, governed!]) {
      expect(read).toMatchObject({ name: 'read', description: '读取文件内容' })
      expect(read.parameters).toMatchObject(JSON.parse(JSON.stringify(ReadToolSchema)))
      const { signal } = new AbortController()
      expect((await read.execute('call-1', { file_path: notes }, () => {}, {}, signal)).details).toEqual({
        path: notes,
        lines: 3,
      })
      const failed = await read.execute('call-2', { file_path: missing })
      const error = expect.stringContaining('ENOENT: no such file or directory')
      expect(failed.details).toEqual({ status: 'error', tool: 'read', error })
      expect(failed).toEqual(jsonResult(failed.details))
    }
  })

  it('an aborted call throws; other errors are logged and become results', async () => {
    const log: string[] = []
    const options = { log: (line: string) => log.push(line) }
    const { hub, missing } = hubWithDocumentTool()
    const [plain] = toToolDefinitions([createDocumentReadTool()], options)
    const [governed] = toToolDefinitions(hub, { ...options, names: ['read'] })
    for (const read of [plain!, governed!]) {
      const { details } = await read.execute('call-1', { file_path: missing })
      expect(details).toMatchObject({ status: 'error', tool: 'read' })
      expect(log.splice(0)).toEqual([`[tools] read failed: ${(details as { error: string }).error}`])
      await expect(
        read.execute('call-2', { file_path: missing }, undefined, undefined, AbortSignal.abort()),
      ).rejects.toThrow()
      expect(log).toEqual([])
    }
  })

  it('without an option, failures are logged to standard error, and no line can be forged', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    onTestFinished(() => log.mockRestore())
    const failing = { ...createDocumentReadTool(), execute: () => Promise.reject(new Error('not\n\u001b[2Jhere')) }
    const { hub } = hubWithDocumentTool()
    const [plain] = toToolDefinitions([failing])
    const [governed] = toToolDefinitions(hub, { names: ['read'] })
    await plain!.execute('call-1', { file_path: 'a' })
    await governed!.execute('call-2', { file_path: 'missing.md' })
    const lines = log.mock.calls.map(([line]) => String(line))
    expect(lines).toHaveLength(2)
    for (const line of lines) expect(line).toMatch(/^\[tools\] read failed: [^\n\u001b]+$/)
  })

  it('tools become the formats of model providers, and calls in these formats are answered', async () => {
    const { hub, notes } = hubWithDocumentTool()
    const shown = { name: 'read', description: '读取文件内容' }
    const parameters = {
      type: 'object',
      properties: {
        file_path: { type: 'string', description: '文件路径' },
        offset: { type: 'number' },
        limit: { type: 'number' },
      },
      required: ['file_path'],
    }
    const listed = hub.registry.listForLLM().find(({ name }) => name === 'read')
    expect(listed).toMatchObject({ ...shown, parameters })
    const input = { file_path: notes }
    const { chat, responses } = toOpenAi(hub, { names: ['read'] })
    expect(chat.tools).toMatchObject([{ type: 'function', function: { ...shown, parameters } }])
    expect(responses.tools).toMatchObject([{ type: 'function', ...shown, parameters }])
    const wire = { name: 'read', arguments: JSON.stringify(input) }
    const text = 'one\ntwo\nthree'
    expect(await chat.run({ tool_calls: [{ type: 'function', id: 'call-1', function: wire }] })).toEqual([
      { role: 'tool', tool_call_id: 'call-1', content: text },
    ])
    expect(await responses.run([{ type: 'function_call', call_id: 'call-2', ...wire }])).toMatchObject([
      { type: 'function_call_output', call_id: 'call-2', output: text },
    ])
    const claude = toAnthropic(hub, { names: ['read'] })
    expect(claude.tools).toMatchObject([{ ...shown, input_schema: parameters }])
    expect(await claude.run([{ type: 'tool_use', id: 'call-3', name: 'read', input }])).toEqual([
      { type: 'tool_result', tool_use_id: 'call-3', content: text },
    ])
    const [strict] = toToolDefinitions(hub, { names: ['read'], provider: 'openai-strict' })
    expect(strict!.parameters).toMatchObject({
      required: ['file_path', 'offset', 'limit'],
      additionalProperties: false,
    })
    const nulls = { ...input, offset: null, limit: null }
    expect((await strict!.execute('call-4', nulls)).details).toEqual({ path: notes, lines: 3 })
  })
})
