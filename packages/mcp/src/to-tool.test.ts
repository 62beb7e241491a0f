import type { CallToolResult } from '@modelcontextprotocol/client'
import { describe, expect, it } from 'vitest'
import type { AnyTool } from '../../core/src/tool.ts'
import { testHub } from '../../testing/src/tool-contract.ts'
import type { LeftOut, ServerToolDefinition } from './definitions.ts'
import { toTool } from './to-tool.ts'

const PNG = Buffer.from('not really a picture').toString('base64')

function make(
  definition: Partial<ServerToolDefinition>,
  { trust = false, answer = { content: [] } as CallToolResult } = {},
) {
  const whole = {
    tool: 't',
    title: undefined,
    description: 'Does.',
    input: {},
    output: undefined,
    annotations: {},
    hash: '',
    ...definition,
  }
  const server = { command: 'x', trust }
  return toTool({
    name: 'mcp/s.t',
    serverName: 's',
    server,
    definition: whole,
    drift: undefined,
    share: (schema) => schema,
    call: async () => answer,
  })
}

async function rights(annotations: ServerToolDefinition['annotations'], trust: boolean) {
  const { capabilities, targets } = (await make({ annotations }, { trust })) as AnyTool
  return [capabilities, targets!({}, { isUnread: () => false })]
}

describe('a tool of a server', () => {
  const remote = [['remote'], { remote: 'mcp:s/t' }]

  it('is judged pessimistically, whatever its server says', async () => {
    expect(await rights({}, false)).toEqual(remote)
    expect(await rights({ readOnlyHint: true, destructiveHint: true }, false)).toEqual(remote)
  })

  it('may destroy if its server says so, trusted or not', async () => {
    const mayDestroy = async (annotations: object) =>
      ((await make({ annotations: annotations as never }, { trust: false })) as AnyTool).mayDestroy
    expect(await mayDestroy({ destructiveHint: true })).toBe(true)
    expect(await mayDestroy({ destructiveHint: false })).toBeUndefined()
  })

  it('is judged by what a trusted server says, and by the worse of two', async () => {
    const destructive = [['remote', 'danger:destructive'], { remote: 'mcp:s/t', 'danger:destructive': 'mcp:s/t' }]
    expect(await rights({}, true)).toEqual(remote)
    expect(await rights({ readOnlyHint: true }, true)).toEqual([['remote'], { remote: [] }])
    expect(await rights({ destructiveHint: true }, true)).toEqual(destructive)
    expect(await rights({ readOnlyHint: true, destructiveHint: true }, true)).toEqual(destructive)
  })

  it('says which of its arguments are texts only if its server is trusted', async () => {
    const text = { type: 'string', format: 'markdown' }
    const letter = { type: 'string', contentMediaType: 'text/html' }
    const input = { type: 'object', properties: { to: { type: 'string' }, remarks: text, letter, body: {} } }
    expect(((await make({ input })) as AnyTool).texts).toBeUndefined()
    expect(((await make({ input }, { trust: true })) as AnyTool).texts).toEqual(['remarks', 'letter'])
    expect(((await make({ input: { type: 'object' } }, { trust: true })) as AnyTool).texts).toBeUndefined()
  })

  it('is left out when its output schema cannot be used', async () => {
    const made = (await make({ output: { type: 'object', properties: { a: { $ref: '#/none' } } } })) as LeftOut
    expect(made.why).toContain('output schema')
  })

  it('is left out when checking its arguments would take for ever', async () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 40 }, (_, level) => {
        const next = { $ref: `#/$defs/d${level + 1}` }
        return [`d${level}`, { allOf: [next, next, next] }]
      }),
    )
    const input = { type: 'object', not: { $ref: '#/$defs/d0' }, $defs: { ...$defs, d40: {} } }
    expect(((await make({ input })) as LeftOut).why).toMatch(/input schema could not be checked: takes over/)
    expect(((await make({ output: input })) as LeftOut).why).toContain('output schema could not be checked')
  })

  it('keeps pictures beside structured data as artifacts', async () => {
    const output = { type: 'object', properties: { sum: { type: 'number' } } }
    const answer: CallToolResult = {
      content: [
        { type: 'text', text: '{"sum":3}' },
        { type: 'image', data: PNG, mimeType: 'image/png' },
        { type: 'resource', resource: { uri: 'file:///a', text: 'whole text' } },
      ],
      structuredContent: { sum: 3 },
    }
    const tool = (await make({ output }, { answer })) as AnyTool
    const hub = testHub({ tools: [tool] })
    const result = await hub.call(tool, {})
    expect(result).toMatchObject({ ok: true, data: { sum: 3 } })
    expect(result.content[0]).toEqual({ type: 'text', text: '{"sum":3}' })
    expect(result.artifacts.map(({ mediaType }) => mediaType)).toEqual(['image/png', 'text/plain'])
    expect(result.meta.notices).toHaveLength(2)
    await hub.close()
    const bare = testHub({ tools: [tool], runs: false })
    expect(await bare.call(tool, {})).toMatchObject({ ok: true, data: { sum: 3 } })
    await bare.close()
  })

  it('says when a server keeps no promise, and what an error of it says', async () => {
    const output = { type: 'object', properties: {} }
    const none = (await make({ output })) as AnyTool
    const failing = (await make(
      {},
      { answer: { content: [{ type: 'text', text: 'no such row' }], isError: true } },
    )) as AnyTool
    const own = testHub({ tools: [none] })
    expect((await own.call(none, {})).error?.code).toBe('OUTPUT_SCHEMA_INVALID')
    await own.close()
    const other = testHub({ tools: [failing] })
    const failed = await other.call(failing, {})
    expect(failed).toMatchObject({
      error: { code: 'EXEC_FAILED', message: 'no such row' },
      data: { content: [{ text: 'no such row' }] },
    })
    await other.close()
  })
})
