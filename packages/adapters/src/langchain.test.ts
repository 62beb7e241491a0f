import { AIMessage, AIMessageChunk, type BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages'
import { fakeModel } from '@langchain/core/testing'
import { DynamicStructuredTool } from '@langchain/core/tools'
import { convertToOpenAITool } from '@langchain/core/utils/function_calling'
import { FakeStreamingChatModel } from '@langchain/core/utils/testing'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { ran, send, wait } from '../../../test/support/adapter-tools.ts'
import type { ToolResult } from '../../core/src/call.ts'
import type { CallEvent } from '../../core/src/events.ts'
import type { HubOptions } from '../../core/src/options.ts'
import { defineTool } from '../../core/src/tool.ts'
import { type TestHub, testHub } from '../../testing/src/tool-contract.ts'
import { type LangChainQuestion, toLangChain } from './langchain.ts'

const add = defineTool({
  name: 'math.add',
  description: 'Adds.',
  input: z.strictObject({ a: z.number(), b: z.number().default(1) }),
  execute: ({ a, b }) => ({ sum: a + b }),
})
const draw = defineTool({
  name: 'draw.dot',
  description: 'Draws.',
  input: z.strictObject({}),
  execute: () => ({ png: 'iVBORw0KGgo=' }),
  toModel: ({ png }) => [
    { type: 'text', text: 'a dot' },
    { type: 'image', data: png, mediaType: 'image/png' },
  ],
})
const count = defineTool({
  name: 'text.count',
  description: 'Counts.',
  input: z.strictObject({}),
  execute: (_, ctx) => {
    ctx.progress('one')
    ctx.progress('two')
    return 'three'
  },
})
const TOOLS = [add, send, draw, count, wait]
const NAMES: readonly string[] = TOOLS.map(({ name }) => name)

const hubs: TestHub[] = []
afterEach(async () => {
  ran.length = 0
  await Promise.all(hubs.splice(0).map((hub) => hub.close({ abort: true })))
})

describe('toLangChain', () => {
  it('shows the wire names and the schemas of the cards', () => {
    const { hub, tools } = setUp()
    const cards = hub.cards().filter(({ tool }) => NAMES.includes(tool))
    const shown = tools.map((tool) => convertToOpenAITool(tool).function)
    expect(shown.map(({ name, description }) => ({ name, description }))).toEqual(
      cards.map(({ name, description }) => ({ name, description })),
    )
    for (const [index, card] of cards.entries()) expect(shown[index]!.parameters).toMatchObject(card.parameters)
    const [before, after] = [hub.cards(), hub.cards()].map((list) => JSON.stringify(list))
    expect(before).toBe(after)
  })

  it('runs the calls of a model, and tells it their results in order', async () => {
    const { tools } = setUp()
    const calls = [1, 2, 3].map((a) => ({ name: 'math_add', args: { a, b: 1 }, id: `c${a}` }))
    const model = fakeModel().respondWithTools(calls).respond(new AIMessage('2, 3 and 4.'))
    const messages = await converse(model.bindTools(tools), tools)
    expect(messages.at(-1)!.content).toBe('2, 3 and 4.')
    expect(messages.filter(ToolMessage.isInstance)).toMatchObject(
      calls.map(({ id, args }) => ({
        name: 'math_add',
        status: 'success',
        tool_call_id: id,
        content: `{"sum":${args.a + 1}}`,
        artifact: { ok: true, tool: 'math.add', data: { sum: args.a + 1 } },
      })),
    )
  })

  it('runs the calls of a model that streams', async () => {
    const { tools, byName } = setUp()
    const chunks = [
      new AIMessageChunk('Adding'),
      new AIMessageChunk({
        content: '',
        tool_call_chunks: [{ type: 'tool_call_chunk', index: 0, name: 'math_add', id: 'c', args: '{"a":1,"b":2}' }],
      }),
    ]
    const model = new FakeStreamingChatModel({ chunks, sleep: 0 }).bindTools(tools)
    let whole: AIMessageChunk | undefined
    for await (const chunk of await model.stream('Add.')) whole = whole ? whole.concat(chunk) : chunk
    const made = whole!.tool_calls!.map((call) => byName(call.name).invoke({ ...call, type: 'tool_call' }))
    expect(await Promise.all(made)).toMatchObject([{ content: '{"sum":3}', tool_call_id: 'c' }])
  })

  it('gives the bare content to a caller who has no tool call', async () => {
    const { byName } = setUp()
    expect(await byName('math_add').invoke({ a: 1, b: 2 })).toBe('{"sum":3}')
    expect(await byName('math_add').invoke({ b: 1 })).toMatch(/^INPUT_SCHEMA_INVALID: /)
  })

  it('leaves validation to the hub, and tells a failure as an error with its result', async () => {
    const { byName, ended } = setUp()
    const message = await byName('math_add').invoke(call('math_add', { a: 'one', b: 2 }))
    expect(message).toBeInstanceOf(ToolMessage)
    expect(message).toMatchObject({
      status: 'error',
      name: 'math_add',
      tool_call_id: 'c0',
      content: expect.stringMatching(/^INPUT_SCHEMA_INVALID: /),
      artifact: { ok: false, error: { code: 'INPUT_SCHEMA_INVALID' } },
    })
    expect(ended()).toHaveLength(1)
  })

  it('shows the schemas of a provider where they are wanted, and takes what its model gives', async () => {
    const { hub } = setUp()
    const names = ['math.add']
    const tools = toLangChain(hub, { DynamicStructuredTool, ToolMessage, names, provider: 'openai-strict' })
    expect(convertToOpenAITool(tools[0]!).function.parameters).toMatchObject({ required: ['a', 'b'] })
    expect(await tools[0]!.invoke(call('math_add', { a: 1, b: null }))).toMatchObject({ content: '{"sum":2}' })
  })

  it('gives images as blocks that LangChain reads', async () => {
    const { byName } = setUp()
    const message = (await byName('draw_dot').invoke(call('draw_dot', {}))) as ToolMessage
    expect(message.content).toMatchObject([
      { type: 'text', text: 'a dot' },
      { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png', source_type: 'base64', mime_type: 'image/png' },
    ])
    expect(message.contentBlocks).toMatchObject([
      { type: 'text', text: 'a dot' },
      { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' },
    ])
  })

  it('tells the progress as tool events, also to one who fails', async () => {
    const { byName } = setUp()
    const told: unknown[] = []
    const callbacks = [
      { handleToolEvent: () => Promise.reject(new Error('deaf')) },
      { handleToolEvent: (chunk: unknown) => void told.push(chunk) },
    ]
    const message = await byName('text_count').invoke(call('text_count', {}), { callbacks })
    expect(message).toMatchObject({ content: 'three' })
    expect(told).toEqual([[{ type: 'text', text: 'one' }], [{ type: 'text', text: 'two' }]])
  })

  it('stops the call when the signal aborts', async () => {
    const { hub, byName, ended } = setUp()
    const controller = new AbortController()
    hub.onEvent(({ type }) => type === 'call-progressed' && controller.abort())
    const { signal } = controller
    await expect(byName('time_wait').invoke(call('time_wait', {}), { signal })).rejects.toThrow(/abort/i)
    expect(ended().map(({ status }) => status)).toEqual(['aborted'])
  })
})

describe('what policy says about a call of LangChain', () => {
  it('tells the model of a denial', async () => {
    const { byName } = setUp({ policy: [{ deny: 'remote', reason: 'no mail today' }] })
    const message = await byName('mail_send').invoke(call('mail_send', { to: 'a' }))
    expect(message).toMatchObject({ status: 'error', artifact: { status: 'denied' } })
    expect(ran).toEqual([])
  })

  it('asks the approver of the hub, and fails without one', async () => {
    const { byName } = setUp({ approve: ({ input }) => ({ decision: 'allow', by: JSON.stringify(input) }) })
    const message = await byName('mail_send').invoke(call('mail_send', { to: 'a' }))
    expect(message).toMatchObject({ content: 'sent to a', artifact: { meta: { approvedBy: '{"to":"a"}' } } })
    const alone = await setUp()
      .byName('mail_send')
      .invoke(call('mail_send', { to: 'b' }))
    expect(alone).toMatchObject({ status: 'error', artifact: { status: 'approval_required' } })
    expect(ran).toEqual(['a'])
  })

  it('stops the graph where policy asks, and continues with the answer', async () => {
    const graph = fakeGraph()
    const { byName, ended } = setUp({}, graph.interrupt)
    const send = byName('mail_send')
    const made = call('mail_send', { to: 'a' })
    await expect(send.invoke(made)).rejects.toThrow('GraphInterrupt')
    expect(ended()).toEqual([])
    const [question] = graph.asked
    expect(question).toMatchObject({ toolCallId: 'c0', tool: 'mail.send', input: { to: 'a' } })
    expect(question!.text).toContain('mail:a')
    graph.resume({ id: question!.id, decision: 'allow' })
    expect(await send.invoke(made)).toMatchObject({
      content: 'sent to a',
      artifact: { meta: { approvedBy: 'langgraph' } },
    })
    expect(await byName('math_add').invoke(call('math_add', { a: 1, b: 2 }))).toMatchObject({ content: '{"sum":3}' })
    expect(graph.asked).toHaveLength(2)
  })

  it('takes a no, no answer, and an answer to another call as a no', async () => {
    const graph = fakeGraph()
    const { byName, ended } = setUp({}, graph.interrupt)
    const send = byName('mail_send')
    await expect(send.invoke(call('mail_send', { to: 'a' }))).rejects.toThrow('GraphInterrupt')
    const { id } = graph.asked[0]!
    for (const [answer, to] of [
      [{ id, decision: 'deny', reason: 'not now' }, 'a'],
      ['yes', 'a'],
      [{ id, decision: 'allow' }, 'b'],
      [{ id: 'c0', decision: 'allow' }, 'a'],
    ] as const) {
      graph.resume(answer)
      const message = await send.invoke(call('mail_send', { to }))
      expect(message).toMatchObject({
        status: 'error',
        content: expect.stringMatching(/^The user refused this call: /),
      })
    }
    expect({ ran, ended: ended() }).toEqual({ ran: [], ended: [] })
  })
})

function setUp(hubOptions: HubOptions = {}, interrupt?: (question: LangChainQuestion) => unknown) {
  const hub = testHub({ approve: undefined, ...hubOptions, tools: TOOLS })
  hubs.push(hub)
  const ends: CallEvent[] = []
  hub.onEvent((event) => ends.push(event))
  const ended = (): ToolResult[] => ends.flatMap((event) => (event.type === 'call-ended' ? [event.result] : []))
  const tools = toLangChain(hub, { DynamicStructuredTool, ToolMessage, names: NAMES, interrupt })
  const byName = (wanted: string) => tools.find(({ name }) => name === wanted)!
  return { hub, tools, byName, ended }
}

/** LangGraph's `interrupt`: throws until the graph continues with an answer. */
function fakeGraph() {
  const asked: LangChainQuestion[] = []
  const answers: unknown[] = []
  const interrupt = (question: LangChainQuestion): unknown => {
    asked.push(question)
    if (answers.length === 0) throw new Error('GraphInterrupt')
    return answers.shift()
  }
  return { asked, interrupt, resume: (answer: unknown) => answers.push(answer) }
}

function call(name: string, args: Record<string, unknown>) {
  return { type: 'tool_call' as const, id: 'c0', name, args }
}

/** The loop of an agent, as everybody writes it. */
async function converse(
  model: { invoke(messages: BaseMessage[]): Promise<AIMessage> },
  tools: readonly DynamicStructuredTool[],
): Promise<BaseMessage[]> {
  const messages: BaseMessage[] = [new HumanMessage('Go.')]
  for (;;) {
    const message = await model.invoke(messages)
    messages.push(message)
    const { tool_calls: calls = [] } = message
    if (calls.length === 0) return messages
    const made = calls.map((call) =>
      tools.find(({ name }) => name === call.name)!.invoke({ ...call, type: 'tool_call' }),
    )
    messages.push(...((await Promise.all(made)) as ToolMessage[]))
  }
}
