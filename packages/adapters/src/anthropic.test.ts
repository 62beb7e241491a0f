import AnthropicSdk from '@anthropic-ai/sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AnthropicTurn, type FakeAnthropic, startFakeAnthropic } from '../../../test/support/fake-anthropic.ts'
import { modelTools, PIXEL } from '../../../test/support/model-tools.ts'
import type { CallEvent } from '../../core/src/events.ts'
import type { HubOptions } from '../../core/src/options.ts'
import { defineTool } from '../../core/src/tool.ts'
import { type TestHub, testHub } from '../../testing/src/tool-contract.ts'
import { type AnthropicOptions, type AnthropicToolResult, type AnthropicTools, toAnthropic } from './anthropic.ts'

let server: FakeAnthropic
let client: AnthropicSdk
const hubs: TestHub[] = []

beforeAll(async () => {
  server = await startFakeAnthropic()
  client = new AnthropicSdk({ baseURL: server.url, apiKey: 'none', maxRetries: 0 })
})
afterAll(async () => {
  await Promise.all([server.close(), ...hubs.map((hub) => hub.close())])
})

function start(options: AnthropicOptions = {}, hubOptions: HubOptions = {}) {
  const { options: base, saved } = modelTools()
  const hub = testHub({ ...base, ...hubOptions } as HubOptions) as TestHub
  hubs.push(hub)
  const ends: (CallEvent & { type: 'call-ended' })[] = []
  hub.onEvent((event) => event.type === 'call-ended' && ends.push(event))
  return { hub, saved, ends, claude: toAnthropic(hub, options) }
}

const REQUEST = { model: 'scripted', max_tokens: 100 }
const GO = [{ role: 'user' as const, content: 'go' }]

/** The loop that people write; returns every answer to a tool use. */
async function loop(claude: AnthropicTools, ...script: AnthropicTurn[]): Promise<AnthropicToolResult[]> {
  server.script(...script)
  const messages: AnthropicSdk.MessageParam[] = [...GO]
  const all: AnthropicToolResult[] = []
  for (;;) {
    const message = await client.messages.create({ ...REQUEST, messages, tools: claude.tools })
    messages.push({ role: 'assistant', content: message.content as AnthropicSdk.ContentBlockParam[] })
    if (message.stop_reason !== 'tool_use') return all
    const results = await claude.run(message)
    all.push(...results)
    messages.push({ role: 'user', content: results })
  }
}

const calls = (...given: [name: string, input: unknown][]): AnthropicTurn => ({
  calls: given.map(([name, input], index) => ({ id: `t${index + 1}`, name, input })),
})
const textsOf = (results: readonly AnthropicToolResult[]) => results.map(({ content }) => content)

describe('the Messages API', () => {
  it('calls a tool and continues with its answer', async () => {
    const { claude } = start()
    const results = await loop(claude, calls(['math_add', { a: 1, b: 2 }]), { text: 'It is 3.' })
    expect(results).toEqual([{ type: 'tool_result', tool_use_id: 't1', content: 'sum 3' }])
    expect(server.requests).toHaveLength(2)
    expect(claude.tools.find(({ name }) => name === 'math_add')).toMatchObject({
      description: 'Add two numbers.',
      input_schema: { type: 'object', required: ['a'] },
    })
  })

  it('asks the approver, of the hub or of the run, and tells the model a no', async () => {
    const turn = calls(['notes_save', { text: 'hi' }])
    const yes = start({}, { approve: () => ({ decision: 'allow' }) })
    expect(textsOf(await loop(yes.claude, turn))).toEqual(['saved'])
    const no = start({ approve: () => ({ decision: 'deny', reason: 'not now' }) })
    const [denied] = await loop(no.claude, turn)
    expect(denied).toMatchObject({ is_error: true, content: expect.stringMatching(/^APPROVAL_DENIED: .*not now/) })
    const use = { type: 'tool_use', id: 't', name: 'notes_save', input: { text: 'hi' } }
    expect(textsOf(await no.claude.run([use], { approve: () => ({ decision: 'allow' }) }))).toEqual(['saved'])
    expect(no.saved).toEqual(['hi'])
  })

  it('tells the model what policy denies, what it does not know and what does not fit, each as an error', async () => {
    const { claude, ends } = start({}, { policy: [{ deny: 'notes.save' }] })
    const turn = calls(
      ['notes_save', { text: 'x' }],
      ['nothing', {}],
      ['math_add', { a: 'one' }],
      ['any_take', '{"a":'],
    )
    const results = await loop(claude, turn)
    expect(results.map(({ content, is_error }) => [is_error, String(content).split(':')[0]])).toEqual([
      [true, 'POLICY_DENIED'],
      [true, 'TOOL_NOT_FOUND'],
      [true, 'INPUT_SCHEMA_INVALID'],
      [true, 'INPUT_SCHEMA_INVALID'],
    ])
    expect(ends).toHaveLength(4)
  })

  it('streams', async () => {
    const { claude } = start()
    server.script(calls(['math_add', { a: 40, b: 2 }], ['screen_shot', {}]))
    const message = await client.messages.stream({ ...REQUEST, messages: GO, tools: claude.tools }).finalMessage()
    expect((await claude.run(message.content)).map(({ tool_use_id }) => tool_use_id)).toEqual(['t1', 't2'])
  })

  it('shows images, and gives what there is of a failure as text', async () => {
    const { claude } = start()
    const [shot, build] = await loop(claude, calls(['screen_shot', {}], ['build_run', {}]))
    expect(shot?.content).toEqual([
      { type: 'text', text: 'the screen' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } },
    ])
    expect(build).toMatchObject({
      is_error: true,
      content: 'EXEC_FAILED: make ended with 2. Read the output.\nmain.c:1: error',
    })
  })

  it('shows documents, names what Claude does not see, and never sends an empty block', async () => {
    const { claude } = start(
      {},
      {
        tools: [
          defineTool({
            name: 'doc.get',
            description: 'x',
            input: {},
            execute: () => 1,
            toModel: () => [
              { type: 'text', text: '' },
              { type: 'resource', uri: 'a.pdf', mediaType: 'application/pdf', data: 'JVBERi0=' },
              { type: 'image', data: 'AA==', mediaType: 'image/tiff' },
            ],
          }),
          defineTool({ name: 'doc.none', description: 'x', input: {}, execute: () => 1, toModel: () => '' }),
        ],
        visibility: {},
      },
    )
    const [doc, none] = await loop(claude, calls(['doc_get', {}], ['doc_none', {}]))
    expect(doc?.content).toEqual([
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' } },
      { type: 'text', text: '[image image/tiff]' },
    ])
    expect(none?.content).toBe('(no output)')
  })

  it('keeps the order of calls that end in another', async () => {
    const { claude } = start()
    const turn = calls(...[1, 2, 3].map((number) => ['turn_take', { number, of: 3 }] as [string, unknown]))
    expect(textsOf(await loop(claude, turn))).toEqual(['1', '2', '3'])
  })

  it('ends calls that are stopped, and answers them all the same', async () => {
    const { claude, hub } = start()
    const stop = new AbortController()
    const waiting = new Promise<void>((resolve) => hub.onEvent(({ type }) => type === 'call-progressed' && resolve()))
    const results = claude.run([{ type: 'tool_use', id: 't', name: 'wait_forever', input: {} }], {
      signal: stop.signal,
    })
    await waiting
    stop.abort()
    expect((await results)[0]).toMatchObject({ is_error: true, content: expect.stringMatching(/^ABORTED/) })
  })

  it('knows when code of the model calls', async () => {
    const direct = defineTool({
      name: 'only.direct',
      description: 'x',
      input: {},
      callers: ['direct'],
      execute: () => 'ran',
    })
    const { claude } = start({}, { tools: [direct], visibility: {} })
    const use = { type: 'tool_use', id: 't', name: 'only_direct', input: {} }
    const [code, own] = await claude.run([{ ...use, caller: { type: 'code_execution_20260120', tool_id: 's' } }, use])
    expect(code?.is_error).toBe(true)
    expect(own?.content).toBe('ran')
  })

  it('is not thrown off by blocks of any shape, and leaves those of others alone', async () => {
    const { claude } = start()
    const odd = [
      null,
      3,
      { type: 'text', text: 'hi' },
      { type: 'server_tool_use', id: 's', name: 'web' },
      { type: 'tool_use' },
    ]
    const results = await claude.run(odd as object[])
    expect(results).toEqual([expect.objectContaining({ tool_use_id: '', is_error: true })])
    expect(await claude.run({} as never)).toEqual([])
  })
})

describe('the tools that Claude is shown', () => {
  it('can be kept by the provider: the last one is marked', () => {
    const marked = start({ cacheControl: { ttl: '1h' } }).claude.tools
    expect(marked.at(-1)?.cache_control).toEqual({ type: 'ephemeral', ttl: '1h' })
    expect(marked.slice(0, -1).some((tool) => 'cache_control' in tool)).toBe(false)
    expect(start({ cacheControl: true }).claude.tools.at(-1)?.cache_control).toEqual({ type: 'ephemeral' })
  })

  it('are strict within what one request may hold', async () => {
    const strictTools = Array.from({ length: 30 }, (_, index) =>
      defineTool({
        name: `many.n${index}`,
        description: 'x',
        input: {
          type: 'object',
          properties: { a: { type: 'string', minLength: 3 }, b: { type: 'string' } },
          required: ['a'],
        },
        execute: () => index,
      }),
    )
    const { claude } = start(
      { strict: true },
      { tools: strictTools, visibility: { allow: strictTools.map(({ name }) => name) } },
    )
    const strict = claude.tools.filter((tool) => tool.strict)
    expect(strict).toHaveLength(20)
    expect(strict[0]?.input_schema).toEqual({
      type: 'object',
      properties: { a: { type: 'string', description: '(minLength: 3)' }, b: { type: 'string' } },
      required: ['a'],
      additionalProperties: false,
    })
    expect(textsOf(await loop(claude, calls(['many_n1', { a: 'abc' }])))).toEqual(['1'])
  })

  it('have argument names that the provider takes, and the tool gets its own', async () => {
    const odd = defineTool({
      name: 'odd.names',
      description: 'x',
      input: {
        type: 'object',
        properties: { $filter: { type: 'string' }, _filter: { type: 'string' } },
        required: ['$filter'],
      },
      execute: (input) => JSON.stringify(input),
    })
    const { claude } = start({}, { tools: [odd], visibility: { allow: ['odd.names'] } })
    expect(Object.keys(claude.tools[0]!.input_schema.properties!)).toEqual(['_filter_2', '_filter'])
    expect(textsOf(await loop(claude, calls(['odd_names', { _filter_2: 'x', _filter: 'y' }])))).toEqual([
      '{"$filter":"x","_filter":"y"}',
    ])
  })

  it('all built-in ones fit the rules of both modes', async () => {
    for (const strict of [false, true]) {
      const { claude } = start({ strict }, { tools: [], visibility: { profile: 'full' } })
      expect(await loop(claude, { text: 'done' })).toEqual([])
      expect(claude.tools.length).toBeGreaterThan(20)
    }
  })
})
