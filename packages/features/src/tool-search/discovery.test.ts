import type { AnyTool, HubOptions } from '@tool-hub/core'
import { afterEach, describe, expect, it } from 'vitest'
import { toAgentTools } from '../../../adapters/src/agent-tools.ts'
import { toAnthropic } from '../../../adapters/src/anthropic.ts'
import { toOpenAi } from '../../../adapters/src/openai.ts'
import { type TestHub, testHub } from '../../../testing/src/tool-contract.ts'
import { estimateTokens, schemaTokens } from './discovery.ts'

const META = ['core_tool_call', 'core_tool_describe', 'core_tool_search']

const hubs: TestHub[] = []
afterEach(async () => {
  for (const hub of hubs.splice(0).reverse()) await hub.close({ abort: true })
})

function open(count: number, options: HubOptions = {}): TestHub {
  const hub = testHub({ tools: manyTools(count), ...options }) as TestHub
  hubs.push(hub)
  return hub
}

/** What a model is shown by adapters whose list cannot grow. */
function shown(hub: Parameters<typeof toOpenAi>[0]): string[] {
  return toOpenAi(hub).chat.tools.map(({ function: { name } }) => name)
}

describe('what a model is shown', () => {
  it('is everything but the search up to 30 tools, and only the search above', () => {
    const few = open(30)
    expect(shown(few)).toEqual(
      few
        .cards()
        .map(({ name }) => name)
        .filter((name) => !META.includes(name)),
    )
    expect(shown(open(31))).toEqual(META)
    expect(toAgentTools(open(31)).map(({ name }) => name)).toEqual(META)
    expect(
      open(31)
        .registry.listForLLM()
        .map(({ name }) => name),
    ).toEqual(META)
  })

  it('counts the tokens of schemas, and leaves built-in tools out of both counts', () => {
    expect(shown(open(0))).not.toContain('core_tool_search')
    const [long] = manyTools(1)
    expect(shown(testHubOf([{ ...long!, description: 'x'.repeat(41_000) }]))).toEqual(META)
    expect(shown(testHubOf([{ ...long!, description: 'x'.repeat(39_000) }]))).toContain('s0_tool0')
  })

  it('is chosen by the owner', () => {
    expect(shown(open(100, { toolSearch: { discovery: 'off' } }))).toContain('s3_tool3')
    expect(shown(open(2, { toolSearch: { discovery: 'on' } }))).toEqual(META)
    expect(shown(open(40, { toolSearch: { pin: ['group:util', 's3.tool3'] } }))).toEqual(
      expect.arrayContaining(['core_util_time_now', 's3_tool3', ...META]),
    )
  })

  it('has the tools that the profile names', () => {
    const coding = shown(open(40, { visibility: { profile: 'coding' } }))
    expect(coding).toEqual(expect.arrayContaining(['read', 'exec', ...META]))
    expect(coding).not.toContain('s3_tool3')
    const minimal = open(40, { visibility: { profile: 'minimal' } })
    expect(shown(minimal)).toEqual(['session_status', ...META])
    expect(shown(open(40).as({ name: 'ada', visibility: { profile: 'minimal' } }))).toEqual(['session_status', ...META])
  })

  it('has the search in every profile, but only while a tool waits for it', async () => {
    const profile = { visibility: { profile: 'minimal' } } as const
    const call = (hub: TestHub, tool: string, input: object) => hub.callDynamic(tool, input)
    const many = open(40, profile)
    expect(await call(many, 'core/tool.search', { query: 'number 3' })).toMatchObject({ ok: true })
    expect(await call(many, 'core/tool.call', { name: 's3.tool3' })).toMatchObject({ ok: true, data: { number: 3 } })
    expect(await call(many, 'core/tool.call', { name: 'core/fs.stat' })).toMatchObject({
      error: { code: 'TOOL_DISABLED' },
    })
    const few = open(2, profile)
    expect(await call(few, 'core/tool.search', { query: 'x' })).toMatchObject({ error: { code: 'TOOL_DISABLED' } })
    for (const extra of manyTools(40).slice(2)) few.registry.register(extra)
    expect(await call(few, 'core/tool.search', { query: 'x' })).toMatchObject({ ok: true })
  })

  it('is everything if the caller does not see the search', () => {
    expect(shown(open(40, { visibility: { deny: ['core/tool.search'] } }))).toContain('s3_tool3')
  })

  it('is what an adapter is configured to show', () => {
    const { tools } = toOpenAi(open(40), { names: ['s3.tool3', 'core/tool.search'] }).chat
    expect(tools.map(({ function: { name } }) => name)).toEqual(['core_tool_search', 's3_tool3'])
  })

  it('has one line for each server, and is the same after a restart and in any order of registration', () => {
    const tools = manyTools(100)
    const [one, other] = [testHubOf(tools), testHubOf([...tools].reverse())]
    const text = JSON.stringify(one.registry.listForLLM())
    expect(JSON.stringify(other.registry.listForLLM())).toBe(text)
    const search = one.cards().find(({ finds }) => finds === 'search')!
    const lines = search.description.split('\n').filter((line) => line.startsWith('s'))
    expect(lines).toHaveLength(10)
    expect(lines[0]).toBe('s0 (10): tool0, tool10, tool20, tool30, tool40, tool50, …')
    expect(schemaTokens(one.registry.listForLLM())).toBeLessThan(schemaTokens(one.cards()) / 10)
  })
})

describe('toAnthropic', () => {
  it('defers tools and answers a search with references to them', async () => {
    const claude = toAnthropic(open(40), { cacheControl: true })
    const [first, ...others] = claude.tools
    expect(first).toMatchObject({ name: 'core_tool_search', cache_control: { type: 'ephemeral' } })
    expect(first).not.toHaveProperty('defer_loading')
    expect(others.every((tool) => tool.defer_loading && !tool.cache_control)).toBe(true)
    expect(others.map(({ name }) => name)).toContain('s3_tool3')
    expect(others.map(({ name }) => name)).not.toContain('core_tool_call')
    const use = (input: object) => [{ type: 'tool_use', id: 'u1', name: 'core_tool_search', input }]
    const [found] = await claude.run(use({ query: 'tool3', limit: 1 }))
    expect(found).toEqual({
      type: 'tool_result',
      tool_use_id: 'u1',
      content: [{ type: 'tool_reference', tool_name: 's3_tool3' }],
    })
    const [none] = await claude.run(use({ query: 'xylophone' }))
    expect(none!.content).toContain('No tool has these words')
    const [called] = await claude.run([{ type: 'tool_use', id: 'u2', name: 's3_tool3', input: {} }])
    expect(called).toMatchObject({ content: '{"number":3}' })
  })
})

describe('toOpenAi', () => {
  it('gives the Responses API a search that the client answers, with one namespace for each server', async () => {
    const { responses } = toOpenAi(open(40))
    expect(responses.tools).toEqual([
      {
        type: 'tool_search',
        execution: 'client',
        description: expect.stringContaining('s3 (4): tool13'),
        parameters: expect.objectContaining({ type: 'object' }),
      },
    ])
    const call = {
      type: 'tool_search_call',
      execution: 'client',
      call_id: 'c1',
      arguments: { query: 'tool3 tool13 tool4' },
    }
    const [found] = await responses.run([{ ...call, arguments: { ...call.arguments, limit: 3 } }])
    expect(found).toMatchObject({ type: 'tool_search_output', call_id: 'c1', execution: 'client', status: 'completed' })
    const { tools } = found as Extract<typeof found, { tools: unknown }>
    expect(tools.map(({ type, name }) => [type, name]).sort()).toEqual([
      ['namespace', 's3'],
      ['namespace', 's4'],
    ])
    const functions = tools.flatMap((each) => each.tools)
    expect(functions.map(({ name }) => name).sort()).toEqual(['s3_tool13', 's3_tool3', 's4_tool4'])
    expect(functions.every((each) => each.type === 'function' && each.defer_loading)).toBe(true)
    const [called] = await responses.run([
      { type: 'function_call', call_id: 'c2', namespace: 's3', name: 's3_tool3', arguments: '{}' },
    ])
    expect(called).toMatchObject({ type: 'function_call_output', output: '{"number":3}' })
    expect(await responses.run([{ ...call, execution: 'server' }])).toEqual([])
    const [bad] = await responses.run([{ ...call, arguments: { q: 1 } }])
    expect(bad).toMatchObject({ type: 'tool_search_output', status: 'incomplete', tools: [] })
  })
})

it('tokens are estimated by characters: four of ASCII are one, and any other is one', () => {
  expect([estimateTokens(''), estimateTokens('abcde'), estimateTokens('搜索'), estimateTokens('🙂')]).toEqual([
    0, 2, 2, 1,
  ])
})

function testHubOf(tools: readonly AnyTool[]): TestHub {
  return open(0, { tools })
}

function manyTools(count: number): AnyTool[] {
  return Array.from({ length: count }, (_, number) => ({
    name: `s${number % 10}.tool${number}`,
    description: `Does the work with the number ${number}. It is described in about as many words as an ordinary tool has.`,
    input: {
      type: 'object',
      properties: { path: { type: 'string', description: 'Where the work is done, relative to the root.' } },
      additionalProperties: false,
    },
    capabilities: [],
    execute: () => ({ number }),
  }))
}
