import type { CallToolResult } from '@modelcontextprotocol/client'
import { describe, expect, it } from 'vitest'
import type { McpServer } from '../../core/src/mcp-server.ts'
import type { AnyTool, BaseContext } from '../../core/src/tool.ts'
import type { LeftOut, ServerToolDefinition } from './definitions.ts'
import { isIgnoredTool, type ToolParts, toTool } from './to-tool.ts'

const ctx = { signal: new AbortController().signal } as BaseContext
const text = { type: 'text' as const, text: 'done' }
const define = (others: Partial<ServerToolDefinition> = {}): ServerToolDefinition => ({
  tool: 't',
  title: undefined,
  description: 'Does.',
  input: {},
  output: undefined,
  annotations: {},
  hash: '',
  ...others,
})

async function make(definition: ServerToolDefinition, others: Partial<ToolParts> = {}) {
  const calls: unknown[][] = []
  const call: ToolParts['call'] = async (...given) => {
    calls.push(given.slice(0, 2))
    return { content: [text] } as CallToolResult
  }
  const share: ToolParts['share'] = (schema) => schema
  const server: McpServer = { command: 'x' }
  const made = await toTool({
    name: 'mcp/s.t',
    serverName: 's',
    server,
    definition,
    drift: undefined,
    share,
    call,
    ...others,
  })
  const tool = made as AnyTool
  const execute = (input: unknown) => tool.execute(input as never, ctx as never) as Promise<unknown>
  return { made, tool, calls, execute }
}

describe('a tool of a server', () => {
  it('says where it comes from', async () => {
    const { tool, made } = await make(define({ title: 'Title' }), { server: { command: 'x', timeoutMs: 1_234 } })
    expect(isIgnoredTool(made)).toBe(false)
    expect(tool).toMatchObject({
      name: 'mcp/s.t',
      kind: 'mcp',
      title: 'Title',
      description: 'Does.',
      input: { type: 'object', properties: {} },
      group: 'mcp',
      category: 'mcp',
      tags: ['mcp:s'],
      timeoutMs: 1_234,
    })
    expect([tool.doubt, tool.output]).toEqual([undefined, undefined])
  })

  it.each(['', ' \n', '\u{200b}'])('has a description where its server gives none (%j)', async (description) => {
    expect((await make(define({ description }))).tool.description).toBe('The tool t of the MCP server s.')
  })

  it('is left out where its arguments are no object, also those that were pinned', async () => {
    expect((await make(define({ input: 'none' }))).made).toEqual({ tool: 't', why: 'its arguments are no object' })
    const { made } = await make(define(), { shown: define({ input: 'none' }) })
    expect(isIgnoredTool(made)).toBe(true)
    expect((made as LeftOut).why).toBe('its arguments are no object')
  })

  it('is doubted for what is hidden in it, and for what changed', async () => {
    const hidden = define({ description: 'a\u{200b}b' })
    const why = 'its description holds hidden characters'
    expect((await make(hidden)).tool.doubt).toBe(why)
    expect((await make(hidden, { drift: 'it changed' })).tool.doubt).toBe(`${why}\nit changed`)
    expect((await make(hidden, { shown: define(), drift: 'it changed' })).tool.doubt).toBe(`${why}\nit changed`)
    expect((await make(define(), { drift: 'it changed' })).tool.doubt).toBe('it changed')
  })

  it('is called by its definition, and hands its blocks or data to the model', async () => {
    const definition = define()
    const { tool, calls, execute } = await make(definition)
    expect(await execute({ a: 1 })).toEqual({ content: [text] })
    expect(calls).toEqual([[definition, { a: 1 }]])
    expect(tool.toModel!({ content: [text] } as never, {} as never)).toEqual([text])
    const output = { type: 'object', properties: { a: { type: 'number' } } }
    const call = async () => ({ content: [], structuredContent: { a: 1 } }) as CallToolResult
    const structured = await make(define({ output }), { call })
    expect(structured.tool.output).toEqual(output)
    expect(await structured.execute({})).toEqual({ a: 1 })
    expect(structured.tool.toModel!({ a: 1 } as never, {} as never)).toBe('{"a":1}')
  })

  it('shows models the text of the server where the structured data only repeats it', async () => {
    const output = { type: 'object', properties: { content: {} } }
    const shownOf = async (structuredContent: Record<string, unknown>, ...texts: string[]) => {
      const content = texts.map((each) => ({ type: 'text' as const, text: each }))
      const { tool, execute } = await make(define({ output }), { call: async () => ({ content, structuredContent }) })
      const data = await execute({})
      expect(data).toEqual(structuredContent)
      return tool.toModel!(data as never, {} as never)
    }
    const source = 'export const a = "b"\n'
    expect(await shownOf({ content: source }, source)).toBe(source)
    const others: [Record<string, unknown>, ...string[]][] = [
      [{ content: source }, JSON.stringify({ content: source })],
      [{ content: source }, 'A file.'],
      [{ content: source }, source, source],
      [{ content: source }],
      [{ content: source, lines: 1 }, source],
      [{ content: 7 }, '7'],
    ]
    for (const [data, ...texts] of others) expect(await shownOf(data, ...texts)).toBe(JSON.stringify(data))
  })

  it('shows models what was pinned, and is called as it is now where the arguments fit both', async () => {
    const shown = define({ title: 'Old', description: 'Old.', input: { properties: { a: { type: 'string' } } } })
    const definition = define({
      tool: `t\n${'n'.repeat(80)}`,
      title: 'New',
      description: 'New.',
      input: { properties: { a: { const: 'b' } } },
    })
    const { tool, calls, execute } = await make(definition, { shown })
    expect(tool).toMatchObject({ title: 'Old', description: 'Old.', input: { properties: { a: { type: 'string' } } } })
    await execute({ a: 'b' })
    expect(calls).toEqual([[definition, { a: 'b' }]])
    await expect(execute({ a: 'c' })).rejects.toMatchObject({
      code: 'CONFLICT',
      message: `s changed the arguments of the tool "t\\\\n${'n'.repeat(78)}"; these do not fit any more.`,
      fix: {
        hint: 'It was not called. The owner looks at the change with `tool-hub mcp test s` and accepts it with `tool-hub mcp pin s`.',
      },
    })
    expect(calls).toHaveLength(1)
  })

  it.each([
    ['are no object any more', 'none'],
    ['have a schema that cannot be used', { properties: { a: { $ref: '#/none' } } }],
  ])('is not called where its arguments %s', async (_, input) => {
    const { execute, calls } = await make(define({ input }), { shown: define() })
    await expect(execute({})).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(calls).toEqual([])
  })

  it('is judged by the worse of what a trusted server says now and said before', async () => {
    const server = { command: 'x', trust: true }
    const rights = async (
      now: ServerToolDefinition['annotations'],
      before: ServerToolDefinition['annotations'],
      given: McpServer = server,
    ) => {
      const { tool } = await make(define({ annotations: now }), {
        shown: define({ annotations: before }),
        server: given,
      })
      return [tool.capabilities, tool.targets!({} as never, { isUnread: () => false } as never)]
    }
    const [reads, deletes] = [{ readOnlyHint: true }, { destructiveHint: true }]
    const destructive = [['remote', 'danger:destructive'], { remote: 'mcp:s/t', 'danger:destructive': 'mcp:s/t' }]
    const remote = [['remote'], { remote: 'mcp:s/t' }]
    expect(await rights(reads, reads)).toEqual([['remote'], { remote: [] }])
    expect(await rights(reads, {})).toEqual(remote)
    expect(await rights({}, reads)).toEqual(remote)
    expect(await rights(deletes, reads)).toEqual(destructive)
    expect(await rights(reads, deletes)).toEqual(destructive)
    expect(await rights({ readOnlyHint: 'true' }, { destructiveHint: 'true' })).toEqual(remote)
    expect(await rights(reads, reads, { command: 'x' })).toEqual(remote)
    expect(await rights(deletes, deletes, { command: 'x', trust: false })).toEqual(remote)
  })
})
