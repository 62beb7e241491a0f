import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FakeOpenAi, type OpenAiTurn, startFakeOpenAi } from '../../../test/support/fake-openai.ts'
import { modelTools, PIXEL } from '../../../test/support/model-tools.ts'
import type { CallEvent } from '../../core/src/events.ts'
import type { HubOptions } from '../../core/src/options.ts'
import { defineTool } from '../../core/src/tool.ts'
import { type TestHub, testHub } from '../../testing/src/tool-contract.ts'
import { collectToolCalls, type OpenAiOptions, toOpenAi } from './openai.ts'

let server: FakeOpenAi
let client: OpenAI
const hubs: TestHub[] = []

beforeAll(async () => {
  server = await startFakeOpenAi()
  client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none', maxRetries: 0 })
})
afterAll(async () => {
  await Promise.all([server.close(), ...hubs.map((hub) => hub.close())])
})

function start(options: OpenAiOptions = {}, hubOptions: HubOptions = {}) {
  const { options: base, saved } = modelTools()
  const hub = testHub({ ...base, ...hubOptions } as HubOptions) as TestHub
  hubs.push(hub)
  const ends: (CallEvent & { type: 'call-ended' })[] = []
  hub.onEvent((event) => event.type === 'call-ended' && ends.push(event))
  return { hub, saved, ends, openai: toOpenAi(hub, options) }
}

type Chat = ReturnType<typeof toOpenAi>['chat']
type Responses = ReturnType<typeof toOpenAi>['responses']
type Message = OpenAI.ChatCompletionMessageParam

/** The loop that people write. */
async function chatLoop(chat: Chat, ...script: OpenAiTurn[]): Promise<Message[]> {
  server.script(...script)
  const messages: Message[] = [{ role: 'user', content: 'go' }]
  for (;;) {
    const { choices } = await client.chat.completions.create({ model: 'scripted', messages, tools: chat.tools })
    const { message } = choices[0]!
    messages.push(message)
    if (!message.tool_calls) return messages
    messages.push(...(await chat.run(message)))
  }
}

async function responsesLoop(responses: Responses, ...script: OpenAiTurn[]): Promise<OpenAI.Responses.ResponseInput> {
  server.script(...script)
  const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'go' }]
  for (;;) {
    const response = await client.responses.create({ model: 'scripted', input, tools: responses.tools })
    input.push(...(response.output as OpenAI.Responses.ResponseInput))
    const outputs = await responses.run(response)
    if (outputs.length === 0) return input
    input.push(...outputs)
  }
}

const calls = (...given: [name: string, args: string][]): OpenAiTurn => ({
  calls: given.map(([name, args], index) => ({ id: `c${index + 1}`, name, arguments: args })),
})
const answersOf = (messages: readonly Message[]) =>
  messages.flatMap((message) => (message.role === 'tool' ? [String(message.content)] : []))

describe('chat completions', () => {
  it('calls a tool and continues with its answer', async () => {
    const { openai } = start()
    const messages = await chatLoop(openai.chat, calls(['math_add', '{"a":1,"b":2}']), { text: 'It is 3.' })
    expect(messages.at(-2)).toEqual({ role: 'tool', tool_call_id: 'c1', content: 'sum 3' })
    expect(messages.at(-1)).toMatchObject({ role: 'assistant', content: 'It is 3.' })
    expect(server.requests[0]?.tools?.map((tool) => tool.function?.name)).toContain('math_add')
    expect(JSON.stringify(openai.chat.tools)).not.toContain('"strict"')
  })

  it('asks the approver of the hub, of the adapter or of the run, and tells the model a no', async () => {
    const asked: string[] = []
    const answer = (decision: 'allow' | 'deny', by: string) => () => {
      asked.push(by)
      return { decision, reason: `${by} says so` }
    }
    const turn = calls(['notes_save', '{"text":"hi"}'])
    const own = start({}, { approve: answer('allow', 'hub') })
    expect(answersOf(await chatLoop(own.openai.chat, turn))).toEqual(['saved'])
    const adapter = start({ approve: answer('deny', 'adapter') }, { approve: answer('allow', 'hub') })
    expect(answersOf(await chatLoop(adapter.openai.chat, turn))[0]).toMatch(/^APPROVAL_DENIED: .*adapter says so/)
    const message = {
      tool_calls: [{ id: 'x', type: 'function', function: { name: 'notes_save', arguments: '{"text":"hi"}' } }],
    }
    const [reply] = await adapter.openai.chat.run(message, { approve: answer('allow', 'run') })
    expect(reply).toMatchObject({ tool_call_id: 'x', content: 'saved' })
    expect(asked).toEqual(['hub', 'adapter', 'run'])
    expect(adapter.saved).toEqual(['hi'])
  })

  it('tells the model what policy denies', async () => {
    const { openai, saved } = start({}, { policy: [{ deny: 'notes.save', reason: 'no notes today' }] })
    const [answer] = answersOf(await chatLoop(openai.chat, calls(['notes_save', '{"text":"hi"}'])))
    expect(answer).toMatch(/^POLICY_DENIED: .*no notes today/)
    expect(saved).toEqual([])
  })

  it('streams: the pieces of several calls become whole', async () => {
    const { openai } = start()
    server.script(calls(['math_add', '{"a":1,"b":2}'], ['math_add', '{"a":40,"b":2}']))
    const collected = collectToolCalls()
    const stream = await client.chat.completions.create({
      model: 's',
      messages: [],
      tools: openai.chat.tools,
      stream: true,
    })
    for await (const chunk of stream) collected.add(chunk)
    expect(answersOf(await openai.chat.run(collected.toolCalls))).toEqual(['sum 3', 'sum 42'])
  })

  it('tells a model that its arguments are no JSON, on record, and never runs the tool with them', async () => {
    const { openai, ends, saved } = start()
    const turn = calls(['math_add', '{"a":1,'], ['any_take', 'rm -rf'], ['math_add', '"text"'], ['screen_shot', ''])
    const answers = answersOf(await chatLoop(openai.chat, turn))
    expect(answers[0]).toMatch(/^INPUT_SCHEMA_INVALID: The arguments are not JSON: .* one JSON object\.$/)
    expect(answers[1]).toMatch(/^INPUT_SCHEMA_INVALID: The arguments are not JSON/)
    expect(answers[2]).toMatch(/^INPUT_SCHEMA_INVALID: Invalid arguments for math_add/)
    expect(answers[3]).toContain('the screen')
    expect(saved).toEqual([])
    expect(ends.map(({ result }) => result.error?.code ?? 'ok').sort()).toEqual([
      'INPUT_SCHEMA_INVALID',
      'INPUT_SCHEMA_INVALID',
      'INPUT_SCHEMA_INVALID',
      'ok',
    ])
  })

  it('tells a model which tool it may have meant', async () => {
    const { openai } = start()
    const answers = answersOf(await chatLoop(openai.chat, calls(['math_ad', '{}'], ['constructor', '{}'], ['', '{"'])))
    expect(answers[0]).toMatch(/^TOOL_NOT_FOUND: .*math/)
    expect(answers[1]).toMatch(/^TOOL_NOT_FOUND/)
    expect(answers[2]).toMatch(/^TOOL_NOT_FOUND/)
  })

  it('keeps the order of calls that end in another', async () => {
    const { openai } = start()
    const turn = calls(
      ...[1, 2, 3].map((number) => ['turn_take', JSON.stringify({ number, of: 3 })] as [string, string]),
    )
    expect(answersOf(await chatLoop(openai.chat, turn))).toEqual(['1', '2', '3'])
  })

  it('gives what there is of a failure, after what is wrong', async () => {
    const { openai } = start()
    const [answer] = answersOf(await chatLoop(openai.chat, calls(['build_run', '{}'])))
    expect(answer).toBe('EXEC_FAILED: make ended with 2. Read the output.\nmain.c:1: error')
  })

  it('names an image, and shows it as the user only when that is wanted', async () => {
    const turn = calls(['screen_shot', '{}'])
    const plain = await chatLoop(start().openai.chat, turn)
    expect(plain.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
    expect(answersOf(plain)).toEqual(['the screen\n[image image/png]'])
    const shown = await chatLoop(start({ imagesAsUser: true }).openai.chat, turn)
    expect(shown.at(-2)).toEqual({
      role: 'user',
      content: [
        { type: 'text', text: 'From the tool result of c1:' },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } },
      ],
    })
  })

  it('ends calls that are stopped, and answers them all the same', async () => {
    const { openai, hub } = start()
    const stop = new AbortController()
    const waiting = new Promise<void>((resolve) => hub.onEvent(({ type }) => type === 'call-progressed' && resolve()))
    const call = { id: 'c1', type: 'function', function: { name: 'wait_forever', arguments: '{}' } }
    const answers = openai.chat.run([call], { signal: stop.signal })
    await waiting
    stop.abort()
    expect(answersOf(await answers)[0]).toMatch(/^ABORTED/)
    expect(answersOf(await openai.chat.run([call], { signal: AbortSignal.abort() }))[0]).toMatch(/^ABORTED/)
  })

  it('is not thrown off by calls of any shape', async () => {
    const { openai } = start()
    const odd = [
      null,
      5,
      [],
      { function: null },
      { id: 7, function: { name: {}, arguments: [] } },
      { type: 'custom', custom: {} },
    ]
    const answers = await openai.chat.run(odd as object[])
    expect(answers.every((answer) => answer.role === 'tool' && answer.tool_call_id === '')).toBe(true)
    expect(await openai.chat.run({})).toEqual([])
    expect(await openai.chat.run({ tool_calls: null })).toEqual([])
    const parsed = { id: 'c', function: { name: 'math_add', arguments: { a: 1, b: 1 } } }
    expect(answersOf(await openai.chat.run([parsed]))).toEqual(['sum 2'])
  })
})

describe('strict tools', () => {
  it('may be null where they may be left out; the tool gets what it knows', async () => {
    const { openai } = start({ strict: true })
    const add = openai.chat.tools.find((tool) => tool.function.name === 'math_add')!
    expect(add.function).toMatchObject({
      strict: true,
      parameters: {
        required: ['a', 'b'],
        additionalProperties: false,
        properties: { b: { type: ['number', 'null'] } },
      },
    })
    expect(answersOf(await chatLoop(openai.chat, calls(['math_add', '{"a":1,"b":null}'])))).toEqual(['sum 101'])
  })

  it('stay as they are where the strict mode cannot say them, or only others are named', async () => {
    const strictOf = ({ chat }: ReturnType<typeof toOpenAi>) =>
      chat.tools.flatMap((tool) => (tool.function.strict ? [tool.function.name] : []))
    expect(strictOf(start({ strict: true }).openai)).not.toContain('any_take')
    expect(strictOf(start({ strict: ['math.add'] }).openai)).toEqual(['math_add'])
  })

  it('wrap a union at the root, and unwrap it again', async () => {
    for (const strict of [false, true]) {
      const { openai, saved } = start({ strict })
      const args = { input: { kind: 'circle', radius: 1, ...(strict && { color: null }) } }
      const answers = answersOf(await chatLoop(openai.chat, calls(['shape_draw', JSON.stringify(args)])))
      expect(answers).toEqual(['circle'])
      expect(saved).toEqual([{ kind: 'circle', radius: 1 }])
    }
  })
})

describe('the Responses API', () => {
  it('calls tools and continues with their answers, images among them', async () => {
    const { openai } = start()
    const turn = calls(['math_add', '{"a":1,"b":2}'], ['screen_shot', '{}'], ['build_run', '{}'])
    const input = await responsesLoop(openai.responses, turn, { text: 'ok' })
    const outputs = input.filter(({ type }) => type === 'function_call_output')
    expect(outputs).toEqual([
      { type: 'function_call_output', call_id: 'c1', output: 'sum 3' },
      {
        type: 'function_call_output',
        call_id: 'c2',
        output: [
          { type: 'input_text', text: 'the screen' },
          { type: 'input_image', image_url: `data:image/png;base64,${PIXEL}`, detail: 'auto' },
        ],
      },
      { type: 'function_call_output', call_id: 'c3', output: expect.stringMatching(/^EXEC_FAILED/) },
    ])
    expect(openai.responses.tools.every(({ strict }) => strict === false)).toBe(true)
  })

  it('streams', async () => {
    const { openai } = start({ strict: true })
    server.script(calls(['math_add', '{"a":5,"b":null}']))
    const stream = client.responses.stream({ model: 's', input: 'go', tools: openai.responses.tools })
    const outputs = await openai.responses.run(await stream.finalResponse())
    expect(outputs).toEqual([{ type: 'function_call_output', call_id: 'c1', output: 'sum 105' }])
  })

  it('tells bad JSON, unknown tools and denials as it does in a chat', async () => {
    const { openai } = start({}, { policy: [{ deny: 'notes.save' }] })
    const turn = calls(['math_add', '{'], ['nothing', '{}'], ['notes_save', '{"text":"x"}'])
    const input = await responsesLoop(openai.responses, turn)
    const codes = input.flatMap((item) => ('output' in item ? [String(item.output).split(':')[0]] : []))
    expect(codes).toEqual(['INPUT_SCHEMA_INVALID', 'TOOL_NOT_FOUND', 'POLICY_DENIED'])
  })

  it('knows when a program of the model calls, and answers it', async () => {
    const direct = defineTool({
      name: 'only.direct',
      description: 'x',
      input: {},
      callers: ['direct'],
      execute: () => 'ran',
    })
    const { openai } = start({}, { tools: [direct], visibility: {} })
    const caller = { type: 'program', caller_id: 'p1' }
    const call = { type: 'function_call', call_id: 'c1', name: 'only_direct', arguments: '{}' }
    const [fromProgram, own] = await openai.responses.run([{ ...call, caller }, call])
    expect(fromProgram).toMatchObject({ caller, output: expect.stringMatching(/^[A-Z_]+: /) })
    expect(own).toEqual({ type: 'function_call_output', call_id: 'c1', output: 'ran' })
  })
})

describe('the tools that are shown', () => {
  it('are those of this moment', () => {
    const { openai, hub } = start({}, { visibility: {} })
    const before = openai.chat.tools
    expect(openai.chat.tools).toEqual(before)
    hub.registry.register(defineTool({ name: 'new.one', description: 'New.', input: {}, execute: () => 1 }))
    expect(openai.chat.tools.length).toBe(before.length + 1)
    before.length = 0
    expect(openai.chat.tools.length).toBeGreaterThan(1)
  })

  it('are those that are named, in the dialect that is wanted', async () => {
    const { openai } = start({ names: ['math.add'] })
    expect(openai.chat.tools.map((tool) => tool.function.name)).toEqual(['math_add'])
    const coding = start({ names: ['core/fs.readText'], dialect: 'coding' }, { visibility: {} }).openai
    expect(coding.responses.tools.map(({ name }) => name)).toEqual(['read'])
    expect(() => start({ names: ['math.ad'] })).toThrow(/No visible tool/)
  })

  it('keep answering when one that was named is gone', async () => {
    const { hub } = start({}, { visibility: {} })
    const gone = defineTool({ name: 'gone.soon', description: 'x', input: {}, execute: () => 'here' })
    const disconnect = hub.connect({ name: 'source', start: (host) => void host.offer([gone]) })
    await hub.ready()
    const { chat } = toOpenAi(hub, { names: ['gone.soon', 'math.add'] })
    expect(chat.tools).toHaveLength(2)
    await disconnect()
    expect(chat.tools).toHaveLength(1)
    const call = { id: 'c', function: { name: 'gone_soon', arguments: '{}' } }
    expect(answersOf(await chat.run([call]))[0]).toMatch(/^TOOL_NOT_FOUND/)
  })

  it('all built-in ones fit the rules of both modes', async () => {
    for (const strict of [false, true]) {
      const { openai } = start({ strict }, { tools: [], visibility: { profile: 'full' } })
      await chatLoop(openai.chat, { text: 'done' })
      expect(openai.chat.tools.length).toBeGreaterThan(20)
    }
  })
})
