import { afterAll, describe, expect, it } from 'vitest'
import type { CallEvent } from '../../../core/src/events.ts'
import { testHub } from '../../../testing/src/tool-contract.ts'
import { fromMcpTool, type McpHandlerExtra, type McpToolResult } from './from-mcp-tool.ts'

const PURE = { capabilities: [] } as const
const hub = testHub()
afterAll(() => hub.close())

let count = 0
const take = (
  handler: (args: Record<string, unknown>, extra: McpHandlerExtra) => unknown,
  facts: { readonly outputSchema?: object } = {},
) => {
  const name = `mcp_tool_${count++}`
  const definition = { name, title: 'A tool', inputSchema: { type: 'object' }, ...facts }
  hub.registry.register(fromMcpTool(definition, handler as () => McpToolResult, PURE))
  return name
}

describe('fromMcpTool', () => {
  it('maps content of every kind', async () => {
    const name = take(() => ({
      content: [
        { type: 'text', text: 'a', annotations: { audience: ['user'] } },
        { type: 'image', data: 'aGk=', mimeType: 'image/png' },
        { type: 'audio', data: 'eA==', mimeType: 'audio/wav' },
        { type: 'resource', resource: { uri: 'file:///a.md', mimeType: 'text/markdown', text: '# a' } },
        { type: 'resource', resource: { uri: 'file:///b.bin', blob: 'eQ==' } },
        { type: 'resource_link', uri: 'file:///c', name: 'c', title: 'C', description: 'd', mimeType: 'a/b', size: 9 },
        { type: 'hologram', data: 1 },
      ],
    }))
    const result = await hub.callDynamic(name, {})
    expect(result.content).toEqual([
      { type: 'text', text: 'a' },
      { type: 'image', data: 'aGk=', mediaType: 'image/png' },
      { type: 'audio', data: 'eA==', mediaType: 'audio/wav' },
      { type: 'resource', uri: 'file:///a.md', mediaType: 'text/markdown', text: '# a' },
      { type: 'resource', uri: 'file:///b.bin', data: 'eQ==' },
      {
        type: 'resource-link',
        uri: 'file:///c',
        name: 'c',
        title: 'C',
        description: 'd',
        mediaType: 'a/b',
        bytes: 9,
      },
      { type: 'text', text: '{"type":"hologram","data":1}' },
    ])
    expect(result.data).toEqual({ content: result.content })
  })

  it('checks structured content by the output schema, references and all', async () => {
    const outputSchema = {
      type: 'object',
      properties: { point: { $ref: '#/$defs/point' } },
      required: ['point'],
      $defs: { point: { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] } },
    }
    const answer = ({ x }: Record<string, unknown>) => ({ structuredContent: { point: { x } } })
    const name = take(answer, { outputSchema })
    const result = await hub.callDynamic(name, { x: 1 })
    expect(result.data).toEqual({ content: [], structuredContent: { point: { x: 1 } } })
    expect(result.content).toEqual([{ type: 'text', text: '{"point":{"x":1}}' }])
    expect((await hub.callDynamic(name, { x: 'no' })).error?.code).toBe('OUTPUT_SCHEMA_INVALID')
    const forgets = take(() => ({ content: [] }), { outputSchema })
    expect((await hub.callDynamic(forgets, {})).error?.code).toBe('OUTPUT_SCHEMA_INVALID')
  })

  it('ends a call as a failure when the result says so, with and without structured content', async () => {
    const content = [{ type: 'text', text: 'no such city' }]
    const plain = await hub.callDynamic(
      take(() => ({ content, isError: true })),
      {},
    )
    expect(plain.error).toMatchObject({ code: 'TOOL_FAILED', retryable: false })
    expect(plain.error?.message).toMatch(/failed: no such city$/)
    expect(plain.data).toEqual({ content })
    const outputSchema = { type: 'object', required: ['n'] }
    const name = take(() => ({ content, isError: true }), { outputSchema })
    expect((await hub.callDynamic(name, {})).error?.code).toBe('TOOL_FAILED')
  })

  it('hands over id, signal and progress as both generations of the SDK do', async () => {
    const events: CallEvent[] = []
    const abort = new AbortController()
    const name = take(async (_, extra) => {
      const { requestId, mcpReq, _meta } = extra
      const progress = { progressToken: _meta.progressToken, progress: 1, total: 2 }
      await extra.sendNotification({ method: 'notifications/progress', params: progress })
      await mcpReq.notify({ method: 'notifications/progress', params: { ...progress, message: 'nearly' } })
      await mcpReq.notify({ method: 'notifications/message', params: { data: 'log' } })
      abort.abort()
      return { content: [{ type: 'text', text: `${requestId === mcpReq.id} ${mcpReq.signal.aborted}` }] }
    })
    const onEvent = (event: CallEvent) => events.push(event)
    expect((await hub.callDynamic(name, {}, { onEvent, signal: abort.signal })).status).toBe('aborted')
    expect(events.flatMap((event) => (event.type === 'call-progressed' ? event.content : []))).toEqual([
      { type: 'text', text: '1 of 2' },
      { type: 'text', text: 'nearly' },
    ])
    expect(await hub.callDynamic(name, {})).toMatchObject({ content: [{ text: 'true false' }] })
  })

  it('refuses invalid results and invalid names', async () => {
    const result = await hub.callDynamic(
      take(() => undefined),
      {},
    )
    expect(result.error?.code).toBe('OUTPUT_SCHEMA_INVALID')
    const dotted = { name: 'über', inputSchema: { type: 'object' } }
    expect(() => fromMcpTool(dotted, () => ({}))).toThrow('is not a tool name')
    expect(fromMcpTool(dotted, () => ({}), { name: 'uber' })).toMatchObject({ name: 'uber', capabilities: ['exec'] })
    expect(() => fromMcpTool({ name: 'a', inputSchema: undefined } as never, () => ({}))).toThrow('not a schema')
  })
})
