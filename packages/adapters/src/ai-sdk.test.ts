import { convertToModelMessages, generateText, type ModelMessage, stepCountIs, streamText } from 'ai'
import { MockLanguageModelV3, simulateReadableStream } from 'ai/test'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { ran, send, sendTwice, wait } from '../../../test/support/adapter-tools.ts'
import { eventually } from '../../../test/support/eventually.ts'
import type { ToolResult } from '../../core/src/call.ts'
import type { CallEvent } from '../../core/src/events.ts'
import type { HubOptions } from '../../core/src/options.ts'
import { defineTool } from '../../core/src/tool.ts'
import { type TestHub, testHub } from '../../testing/src/tool-contract.ts'
import { type AiSdkOptions, recordRefusedCalls, toAiSdk } from './ai-sdk.ts'

const add = defineTool({
  name: 'math.add',
  title: 'Add',
  description: 'Adds.',
  input: z.strictObject({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => ({ sum: a + b }),
})
const say = defineTool({
  name: 'text.say',
  description: 'Says.',
  input: z.strictObject({ text: z.string(), times: z.number().default(2) }),
  execute: ({ text, times }) => text.repeat(times),
})
const draw = defineTool({
  name: 'draw.dot',
  description: 'Draws.',
  input: z.strictObject({}),
  execute: () => ({ png: 'iVBORw0KGgo=' }),
  toModel: ({ png }) => [
    { type: 'text', text: 'a dot' },
    { type: 'image', data: png, mediaType: 'image/png' },
    { type: 'resource', uri: 'file:///a.pdf', mediaType: 'application/pdf', data: 'JVBERi0=' },
    { type: 'resource-link', uri: 'file:///b', name: 'b' },
  ],
})
const count = defineTool({
  name: 'text.count',
  description: 'Counts.',
  input: z.strictObject({}),
  execute: async (_, ctx) => {
    ctx.progress('one')
    await Promise.resolve()
    ctx.pending('two waits')
    ctx.progress('two')
    return 'three'
  },
})
const TOOLS = [add, say, send, sendTwice, draw, count, wait]
const NAMES = TOOLS.map(({ name }) => name)

const hubs: TestHub[] = []
afterEach(async () => {
  ran.length = 0
  await Promise.all(hubs.splice(0).map((hub) => hub.close({ abort: true })))
})

describe('toAiSdk', () => {
  it('shows the wire names and the schemas of the cards, and runs the calls of a model', async () => {
    const { hub, tools } = setUp()
    const model = scripted([['math_add', { a: 1, b: 2 }]], 'The sum is 3.')
    const { text, steps } = await generateText({ model, tools, stopWhen: stepCountIs(5), prompt: 'Add.' })
    expect(text).toBe('The sum is 3.')
    const shown = model.doGenerateCalls[0]!.tools!.find(({ name }) => name === 'math_add')
    const card = hub.cards().find(({ name }) => name === 'math_add')!
    expect(shown).toMatchObject({ type: 'function', description: 'Adds.', inputSchema: card.parameters })
    expect(answers(model)).toEqual([{ type: 'text', value: '{"sum":3}' }])
    expect(steps[0]!.toolResults[0]).toMatchObject({ output: { ok: true, tool: 'math.add', data: { sum: 3 } } })
  })

  it('keeps the run, the session and the caller', async () => {
    const asked: unknown[] = []
    const { tools } = setUp(
      {
        approve: ({ run, session, caller }) => {
          asked.push({ run, session, caller })
          return { decision: 'allow' }
        },
      },
      { run: 'r1', session: 's1', caller: 'agent', approvals: 'hub' },
    )
    await generateText({ model: scripted([['mail_send', { to: 'a' }]]), tools, prompt: 'Send.' })
    expect(asked).toEqual([{ run: 'r1', session: 's1', caller: 'agent' }])
  })

  it('has the tools that are named, by either name, in the dialect that is asked for', () => {
    const { hub } = setUp()
    expect(Object.keys(toAiSdk(hub, { names: ['math.add', 'mail_send'] }))).toEqual(['mail_send', 'math_add'])
    expect(Object.keys(toAiSdk(hub, { names: ['core/fs.readText'], dialect: 'coding' }))).toEqual(['read'])
    expect(() => toAiSdk(hub, { names: ['math.ad'] })).toThrow('No visible tool is named "math.ad".')
  })

  it('leaves validation to the hub, so that the model learns what to correct', async () => {
    const { tools, ended } = setUp()
    const model = scripted([['math_add', { a: 'one', b: 2 }]])
    await generateText({ model, tools, stopWhen: stepCountIs(5), prompt: 'Add.' })
    expect(answers(model)).toEqual([{ type: 'error-text', value: expect.stringMatching(/^INPUT_SCHEMA_INVALID: .*a/) }])
    expect(ended().map(({ status }) => status)).toEqual(['error'])
  })

  it('shows strict schemas where they are wanted, and takes what a strict model gives', async () => {
    const { tools } = setUp({}, { provider: 'openai-strict' })
    const model = scripted([['text_say', { text: 'hi', times: null }]])
    await generateText({ model, tools, stopWhen: stepCountIs(5), prompt: 'Say.' })
    const shown = model.doGenerateCalls[0]!.tools!.find(({ name }) => name === 'text_say')
    expect(shown).toMatchObject({ strict: true, inputSchema: { required: ['text', 'times'] } })
    expect(answers(model)).toEqual([{ type: 'text', value: 'hihi' }])
  })

  it('gives images and files as content, and names what can be neither', async () => {
    const { tools } = setUp()
    const model = scripted([['draw_dot', {}]])
    await generateText({ model, tools, stopWhen: stepCountIs(5), prompt: 'Draw.' })
    expect(answers(model)).toEqual([
      {
        type: 'content',
        value: [
          { type: 'text', text: 'a dot' },
          { type: 'image-data', data: 'iVBORw0KGgo=', mediaType: 'image/png' },
          { type: 'file-data', data: 'JVBERi0=', mediaType: 'application/pdf' },
          { type: 'text', text: '[b](file:///b)' },
        ],
      },
    ])
  })

  it('runs several calls of one step, each with its own result', async () => {
    const { tools } = setUp()
    const calls = Array.from({ length: 20 }, (_, a) => ['math_add', { a, b: 0 }] as const)
    const model = scripted(calls)
    await generateText({ model, tools, stopWhen: stepCountIs(5), prompt: 'Add.' })
    expect(answers(model)).toEqual(calls.map(([, { a }]) => ({ type: 'text', value: `{"sum":${a}}` })))
  })

  it('takes results from a history without trusting them', async () => {
    const { tools } = setUp()
    const outputs = [{ sum: 3 }, null, 'text', { ok: false, content: [], error: {} }, { content: [{ type: 'odd' }] }]
    const parts = outputs.map((output, index) => ({
      type: 'dynamic-tool' as const,
      toolName: 'math_add',
      toolCallId: `c${index}`,
      state: 'output-available' as const,
      input: {},
      output,
    }))
    const messages = await convertToModelMessages([{ role: 'assistant', parts }], { tools })
    const results = messages.flatMap(({ content }) => content as { type: string; output?: unknown }[])
    expect(results.filter(({ type }) => type === 'tool-result').map(({ output }) => output)).toMatchObject([
      { type: 'text', value: '{"sum":3}' },
      { type: 'text', value: 'null' },
      { type: 'text', value: '"text"' },
      { type: 'error-text' },
      { type: 'text' },
    ])
  })

  it('tells the progress as preliminary results, then the result', async () => {
    const { tools } = setUp()
    const { fullStream } = streamText({
      model: streaming([['text_count', {}]], 'Done.'),
      tools,
      stopWhen: stepCountIs(5),
      prompt: 'Count.',
    })
    const told: unknown[] = []
    for await (const part of fullStream) {
      if (part.type === 'text-delta') told.push(part.text)
      if (part.type !== 'tool-result') continue
      const { status, content } = part.output as ToolResult
      told.push([part.preliminary === true, status, content[0]])
    }
    expect(told).toEqual([
      [true, 'running', { type: 'text', text: 'one' }],
      [true, 'pending', { type: 'text', text: 'two waits' }],
      [true, 'running', { type: 'text', text: 'two' }],
      [true, 'ok', { type: 'text', text: 'three' }],
      [false, 'ok', { type: 'text', text: 'three' }],
      'Done.',
    ])
  })

  it('gives only the result when no progress is wanted', async () => {
    const { tools } = setUp({}, { progress: false })
    const { fullStream } = streamText({ model: streaming([['text_count', {}]]), tools, prompt: 'Count.' })
    const preliminary: unknown[] = []
    for await (const part of fullStream) if (part.type === 'tool-result') preliminary.push(part.preliminary)
    expect(preliminary).toEqual([undefined])
  })

  it('stops the call when the generation is aborted', async () => {
    const { hub, tools, ended } = setUp()
    const controller = new AbortController()
    hub.onEvent(({ type }) => type === 'call-progressed' && controller.abort())
    const { fullStream } = streamText({
      model: streaming([['time_wait', {}]]),
      tools,
      abortSignal: controller.signal,
      stopWhen: stepCountIs(5),
      prompt: 'Wait.',
    })
    const types: string[] = []
    for await (const { type } of fullStream) types.push(type)
    expect(types.at(-1)).toBe('abort')
    await eventually(() => expect(ended()).toHaveLength(1))
    expect(ended().map(({ status }) => status)).toEqual(['aborted'])
  })
})

describe('what policy says about a call of the AI SDK', () => {
  it('denies without asking the user, and tells the model', async () => {
    const { tools, ended } = setUp({ policy: [{ deny: 'remote', reason: 'no mail today' }] })
    const model = scripted([['mail_send', { to: 'a' }]])
    const { content } = await generateText({ model, tools, prompt: 'Send.' })
    expect(content.map(({ type }) => type)).toEqual(['tool-call', 'tool-result'])
    expect(ended()).toMatchObject([{ status: 'denied', error: { code: 'POLICY_DENIED' } }])
    expect(ran).toEqual([])
  })

  it('asks the user, and runs what was approved once', async () => {
    const { tools, ended } = setUp()
    const model = scripted([['mail_send', { to: 'a' }]], 'Sent.')
    const messages = await askedBy(model, tools)
    expect(ran).toEqual([])
    expect(ended()).toEqual([])
    const { text } = await generateText({ model, tools, messages: [...messages, reply(messages, true)] })
    expect(text).toBe('Sent.')
    expect(ran).toEqual(['a'])
    expect(ended()).toMatchObject([{ status: 'ok', meta: { approvedBy: 'ai-sdk' } }])
    expect(answers(model)).toEqual([{ type: 'text', value: 'sent to a' }])
  })

  it('asks in a stream too, and continues with tools created anew', async () => {
    const { hub, tools } = setUp()
    const asking = streamText({ model: streaming([['mail_send', { to: 'a' }]]), tools, prompt: 'Send.' })
    const { messages } = await asking.response
    const answered: ModelMessage[] = [{ role: 'user', content: 'Send.' }, ...messages, reply(messages, true)]
    const going = streamText({ model: streaming([], 'Sent.'), tools: toAiSdk(hub), messages: answered })
    expect(await going.text).toBe('Sent.')
    expect(ran).toEqual(['a'])
  })

  it('tells the model when the user says no; the hub hears nothing of it', async () => {
    const { tools, ended } = setUp()
    const model = scripted([['mail_send', { to: 'a' }]], 'Not sent.')
    const messages = await askedBy(model, tools)
    await generateText({ model, tools, messages: [...messages, reply(messages, false)] })
    expect(answers(model)).toEqual([{ type: 'execution-denied', reason: 'not now' }])
    expect({ ran, ended: ended() }).toEqual({ ran: [], ended: [] })
  })

  it('takes a yes for the very call it was given to', async () => {
    const { tools } = setUp()
    const messages = await askedBy(scripted([['mail_send', { to: 'a' }]]), tools)
    const history = [...messages, reply(messages, true)]
    const made = async (tool: string, input: unknown, toolCallId: string, given: readonly unknown[]) => {
      const outputs = tools[tool]!.execute(input, { toolCallId, messages: given })
      for await (const output of outputs as AsyncIterable<ToolResult>) if ('ok' in output) return output.status
    }
    expect(await made('mail_send', { to: 'b' }, 'c0', history)).toBe('approval_required')
    expect(await made('mail_send', { to: 'a' }, 'c1', history)).toBe('approval_required')
    expect(await made('mail_sendTwice', { to: 'a' }, 'c0', history)).toBe('approval_required')
    expect(await made('mail_send', { to: 'a' }, 'c0', messages)).toBe('approval_required')
    expect(await made('mail_send', { to: 'a' }, 'c0', [...history, { role: 'user' }])).toBe('approval_required')
    expect(await made('mail_send', { to: 'a' }, 'c0', [...messages, reply(messages, false)])).toBe('approval_required')
    expect(ran).toEqual([])
    expect(await made('mail_send', { to: 'a' }, 'c0', history)).toBe('ok')
  })

  it('takes no yes for what the approved call calls', async () => {
    const { tools } = setUp()
    const model = scripted([['mail_sendTwice', { to: 'a' }]])
    const messages = await askedBy(model, tools)
    await generateText({ model, tools, messages: [...messages, reply(messages, true)] })
    expect(answers(model)).toEqual([{ type: 'text', value: 'one, APPROVAL_UNAVAILABLE' }])
    expect(ran).toEqual(['a'])
  })

  it('asks the approver of the hub if configured', async () => {
    const { tools } = setUp({ approve: () => ({ decision: 'allow', by: 'owner' }) }, { approvals: 'hub' })
    expect(tools.mail_send!.needsApproval).toBeUndefined()
    await generateText({ model: scripted([['mail_send', { to: 'a' }]]), tools, prompt: 'Send.' })
    expect(ran).toEqual(['a'])
  })
})

describe('what was answered before', () => {
  it('is not asked again, be it a yes or a no', async () => {
    const { hub, tools } = setUp({
      approve: ({ targets }) => ({
        decision: targets[0]!.endsWith('ada') ? 'allow' : 'deny',
        remember: 'session',
        by: 'boss',
      }),
    })
    const asks = (to: string) => tools.mail_send!.needsApproval!({ to })
    expect(await asks('ada')).toBe(true)
    for (const to of ['ada', 'bob']) await hub.call(send, { to })
    expect([await asks('ada'), await asks('bob'), await asks('eve')]).toEqual([false, false, true])
    const { remembered, text } = await hub.explain('mail.send', { to: 'bob' })
    expect(remembered).toMatchObject({ decision: 'deny', by: 'boss' })
    expect(text).toContain('answered before: deny by boss')
  })
})

describe('recordRefusedCalls', () => {
  it('puts calls on record that the SDK answers by itself, and runs none of them', async () => {
    const { hub, tools, ended } = setUp({}, { names: ['math.add'] })
    const model = scripted([
      ['no_such_tool', { a: 1 }],
      ['text_say', { text: 'not shown to this model' }],
    ])
    const { steps } = await generateText({
      model,
      tools,
      experimental_repairToolCall: recordRefusedCalls(hub, { caller: 'ai-sdk' }),
      stopWhen: stepCountIs(5),
      prompt: 'Try.',
    })
    expect(steps[0]!.content.filter(({ type }) => type === 'tool-error')).toHaveLength(2)
    const recorded = ended().sort((a, b) => (a.tool < b.tool ? -1 : 1))
    expect(recorded.map(({ tool, ok }) => [tool, ok])).toEqual([
      ['no_such_tool', false],
      ['text.say', true],
    ])
    expect(recorded[1]!.meta.dryRun).toBe(true)
  })
})

function setUp(hubOptions: HubOptions = {}, options: AiSdkOptions = {}) {
  const hub = testHub({ approve: undefined, ...hubOptions, tools: TOOLS })
  hubs.push(hub)
  const ends: CallEvent[] = []
  hub.onEvent((event) => ends.push(event))
  // Nested calls end too; what counts is what the model called.
  const ended = () => ends.flatMap((event) => (event.type === 'call-ended' ? [event.result] : []))
  return { hub, tools: toAiSdk(hub, { names: NAMES, ...options }), ended }
}

type Script = readonly (readonly [tool: string, input: unknown])[]

const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}
const reason = (unified: 'tool-calls' | 'stop') => ({ unified, raw: undefined })

function callParts(calls: Script) {
  return calls.map(([toolName, input], index) => ({
    type: 'tool-call' as const,
    toolCallId: `c${index}`,
    toolName,
    input: JSON.stringify(input),
  }))
}

/** A model that makes these calls first, then says something. */
function scripted(calls: Script, text = 'Done.'): MockLanguageModelV3 {
  return new MockLanguageModelV3({
    doGenerate: [
      { content: callParts(calls), finishReason: reason('tool-calls'), usage: USAGE, warnings: [] },
      { content: [{ type: 'text', text }], finishReason: reason('stop'), usage: USAGE, warnings: [] },
    ],
  })
}

type Streamed = Awaited<ReturnType<MockLanguageModelV3['doStream']>>['stream']
type Chunk = Streamed extends ReadableStream<infer Part> ? Part : never

function streaming(calls: Script, text = 'Done.'): MockLanguageModelV3 {
  const ended = (unified: 'tool-calls' | 'stop') => ({
    type: 'finish' as const,
    finishReason: reason(unified),
    usage: USAGE,
  })
  const said = [
    { type: 'text-start' as const, id: 't' },
    { type: 'text-delta' as const, id: 't', delta: text },
    { type: 'text-end' as const, id: 't' },
    ended('stop'),
  ]
  const steps: Chunk[][] = [...(calls.length > 0 ? [[...callParts(calls), ended('tool-calls')]] : []), said]
  return new MockLanguageModelV3({
    doStream: steps.map((chunks) => ({
      stream: simulateReadableStream({ chunks, initialDelayInMs: null, chunkDelayInMs: null }),
    })),
  })
}

/** The history up to the question that the user is asked. */
async function askedBy(model: MockLanguageModelV3, tools: ReturnType<typeof toAiSdk>): Promise<ModelMessage[]> {
  const { content, response } = await generateText({ model, tools, prompt: 'Send.' })
  expect(content.map(({ type }) => type)).toEqual(['tool-call', 'tool-approval-request'])
  return [{ role: 'user', content: 'Send.' }, ...response.messages]
}

function reply(messages: readonly ModelMessage[], approved: boolean): ModelMessage {
  const parts = messages.flatMap(({ role, content }) =>
    role === 'assistant' && typeof content !== 'string' ? content : [],
  )
  const request = parts.find((part) => part.type === 'tool-approval-request')!
  const { approvalId } = request
  const why = approved ? undefined : 'not now'
  return { role: 'tool', content: [{ type: 'tool-approval-response', approvalId, approved, reason: why }] }
}

/** The results of its calls in the last request to the model. */
function answers(model: MockLanguageModelV3): unknown[] {
  const parts = model.doGenerateCalls.at(-1)!.prompt.flatMap(({ role, content }) => (role === 'tool' ? content : []))
  return parts.flatMap((part) => (part.type === 'tool-result' ? [part.output] : []))
}
