import type { AnyTool } from '@tool-hub/core'
import { describe, expect, it } from 'vitest'
import { useServedHubs } from '../../../../test/support/mcp-served.ts'

const { serve, connect } = useServedHubs()

const tools: readonly AnyTool[] = Array.from({ length: 40 }, (_, number) => ({
  name: `s${number % 4}.tool${number}`,
  description: `Does the work with the number ${number}.`,
  input: { type: 'object', properties: {}, additionalProperties: false },
  capabilities: [],
  execute: () => ({ number }),
}))
const META = ['core_tool_call', 'core_tool_describe', 'core_tool_search']

describe.each(['legacy', 'modern'] as const)('a client of the %s era of a hub with many tools', (era) => {
  it('lists the search, and what it has described since', async () => {
    const { url } = await serve({ tools })
    let changed = () => {}
    const whenChanged = new Promise<void>((resolve) => {
      changed = resolve
    })
    const [client, other] = [
      await connect(url, era, { listChanged: { tools: { onChanged: () => changed(), debounceMs: 0 } }, name: 'one' }),
      await connect(url, 'legacy', { name: 'other' }),
    ]
    const names = async (of = client) => (await of.listTools()).tools.map(({ name }) => name)
    expect(await names()).toEqual(META)
    const found = await client.callTool({ name: 'core_tool_search', arguments: { query: 'number 7', limit: 1 } })
    expect(found.structuredContent).toMatchObject({ matches: [{ name: 's3_tool7' }] })
    expect(await names()).toEqual(META)
    await client.callTool({ name: 'core_tool_describe', arguments: { names: ['s3_tool7', 'core_fs_stat'] } })
    await whenChanged
    expect(await names()).toEqual(['core_fs_stat', ...META, 's3_tool7'])
    expect(await names(other)).toEqual(META)
    const called = await client.callTool({ name: 's3_tool7', arguments: {} })
    expect(called.structuredContent ?? called.content).toBeDefined()
    expect(called.isError).not.toBe(true)
  })

  it('calls a tool that is not listed, by itself and through the tool for it', async () => {
    const { url } = await serve({ tools })
    const client = await connect(url, era)
    const direct = await client.callTool({ name: 's3_tool7', arguments: {} })
    const through = await client.callTool({ name: 'core_tool_call', arguments: { name: 's3_tool7', input: {} } })
    expect(through.content).toEqual(direct.content)
    const unknown = await client.callTool({ name: 'core_tool_call', arguments: { name: 's3_tool8' } })
    expect(unknown).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('TOOL_NOT_FOUND') }] })
  })
})

it('with few tools, a list has none that is about others', async () => {
  const { url } = await serve({ tools: tools.slice(0, 30) })
  const { tools: listed } = await (await connect(url, 'legacy')).listTools()
  expect(listed.filter(({ name }) => META.includes(name))).toEqual([])
  expect(listed.map(({ name }) => name)).toContain('s3_tool7')
})
