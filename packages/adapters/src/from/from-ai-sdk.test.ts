import { dynamicTool, jsonSchema, tool } from 'ai'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { z as z3 } from 'zod/v3'
import type { CallEvent } from '../../../core/src/events.ts'
import type { HubOptions } from '../../../core/src/options.ts'
import { testHub } from '../../../testing/src/tool-contract.ts'
import { type ForeignAiSdkTool, fromAiSdk } from './from-ai-sdk.ts'

const PURE = { capabilities: [] } as const
const hubs: { close(): Promise<void> }[] = []

function open(options: HubOptions) {
  const hub = testHub(options)
  hubs.push(hub)
  return hub
}

afterEach(async () => {
  await Promise.all(hubs.splice(0).map((hub) => hub.close()))
})

const add = tool({
  description: 'Add two numbers.',
  inputSchema: z.object({ a: z.number(), b: z.number().default(1) }),
  execute: ({ a, b }) => ({ sum: a + b }),
})

describe('fromAiSdk', () => {
  it('takes a tool in: its schema checks, its defaults are filled, its words describe it', async () => {
    const hub = open({ tools: [fromAiSdk(add, { ...PURE, name: 'math.add' })] })
    expect(await hub.callDynamic('math.add', { a: 2 })).toMatchObject({ ok: true, data: { sum: 3 } })
    expect(await hub.callDynamic('math.add', { a: 'x' })).toMatchObject({ error: { code: 'INPUT_SCHEMA_INVALID' } })
    expect(hub.cards().find((card) => card.tool === 'math.add')).toMatchObject({
      name: 'math_add',
      description: 'Add two numbers.',
      parameters: { properties: { a: { type: 'number' } }, required: ['a'] },
    })
  })

  it('takes a set in by its names, governed together or one by one', async () => {
    const odd = tool({ ...add, title: 'Odd', description: undefined })
    const set: Record<string, ForeignAiSdkTool> = { add, inputSchema: odd }
    expect(fromAiSdk(set, PURE).map(({ name, description }) => [name, description])).toEqual([
      ['add', 'Add two numbers.'],
      ['inputSchema', 'Odd.'],
    ])
    const byName = fromAiSdk(set, (name) => ({ name: `math.${name}`, ...(name === 'add' && PURE) }))
    expect(byName.map(({ name, capabilities }) => [name, capabilities])).toEqual([
      ['math.add', []],
      ['math.inputSchema', ['exec']],
    ])
    expect(() => fromAiSdk(set, { name: 'one' })).toThrow('cannot be that of every tool')
  })

  it('denies what does not say what it touches, until a rule allows it', async () => {
    const hub = open({ tools: fromAiSdk({ add, known: add }), policy: [{ allow: 'known' }] })
    const denied = await hub.callDynamic('add', { a: 1 })
    expect(denied).toMatchObject({ status: 'denied', error: { code: 'POLICY_DENIED' } })
    expect((await hub.callDynamic('known', { a: 1 })).ok).toBe(true)
  })

  it('tells policy the targets that the owner says', async () => {
    const fetching = { capabilities: ['remote'], targets: ({ a }: { a: number }) => ({ remote: `sum:${a}` }) } as const
    const hub = open({ tools: fromAiSdk({ add }, fetching), policy: [{ deny: 'remote', on: 'sum:7' }] })
    expect((await hub.callDynamic('add', { a: 7 })).status).toBe('denied')
    expect((await hub.callDynamic('add', { a: 8 })).ok).toBe(true)
  })

  it('hands over the call id and the signal in the options of the AI SDK', async () => {
    const seen: { toolCallId: string; aborted: boolean; messages: unknown[] }[] = []
    const abort = new AbortController()
    const waits = tool({
      inputSchema: z.object({}),
      execute: async (_, { toolCallId, abortSignal, messages }) => {
        abort.abort()
        seen.push({ toolCallId, messages, aborted: abortSignal!.aborted })
        return 'never seen'
      },
    })
    const hub = open({ tools: fromAiSdk({ waits }, PURE) })
    const result = await hub.callDynamic('waits', {}, { signal: abort.signal })
    expect(result.status).toBe('aborted')
    expect(seen).toEqual([{ toolCallId: result.callId, messages: [], aborted: true }])
  })

  it('turns what a streaming tool yields into progress, and its last value into the answer', async () => {
    const counts = tool({
      inputSchema: z.object({}),
      async *execute() {
        yield { done: 1 }
        yield { done: 2 }
      },
    })
    const events: CallEvent[] = []
    const hub = open({ tools: fromAiSdk({ counts }, PURE) })
    const result = await hub.callDynamic('counts', {}, { onEvent: (event) => events.push(event) })
    expect(result.data).toEqual({ done: 2 })
    expect(events.flatMap((event) => (event.type === 'call-progressed' ? event.content : []))).toEqual([
      { type: 'text', text: '{"done":1}' },
      { type: 'text', text: '{"done":2}' },
    ])
  })

  it('shows a model what toModelOutput makes, and keeps the output as data', async () => {
    const photo = tool({
      inputSchema: z.object({ of: z.string() }),
      outputSchema: z.object({ base64: z.string() }),
      execute: async () => ({ base64: 'aGk=' }),
      toModelOutput: async ({ output, input, toolCallId }) => ({
        type: 'content',
        value: [
          { type: 'text', text: `${input.of} ${toolCallId.length > 0}` },
          { type: 'image-data', data: output.base64, mediaType: 'image/png' },
          { type: 'file-data', data: 'eA==', mediaType: 'application/pdf', filename: 'a.pdf' },
          { type: 'image-url', url: 'https://example.org/a.png' },
          { type: 'file-id', fileId: 'file-1' },
        ],
      }),
    })
    const result = await open({ tools: fromAiSdk({ photo }, PURE) }).callDynamic('photo', { of: 'a cat' })
    expect(result.data).toMatchObject({ output: { base64: 'aGk=' } })
    expect(result.content).toEqual([
      { type: 'text', text: 'a cat true' },
      { type: 'image', data: 'aGk=', mediaType: 'image/png' },
      { type: 'resource', uri: 'attachment:a.pdf', data: 'eA==', mediaType: 'application/pdf' },
      { type: 'resource-link', uri: 'https://example.org/a.png', name: 'https://example.org/a.png' },
      { type: 'text', text: '{"type":"file-id","fileId":"file-1"}' },
    ])
  })

  it('ends a call as a failure when toModelOutput says that it is one', async () => {
    const refusing = tool({
      inputSchema: z.object({}),
      execute: () => 'x',
      toModelOutput: () => ({ type: 'error-text' as const, value: 'no such city' }),
    })
    const result = await open({ tools: fromAiSdk({ refusing }, PURE) }).callDynamic('refusing', {})
    expect(result.error).toMatchObject({ code: 'TOOL_FAILED', message: 'no such city', retryable: false })
    expect(result.data).toMatchObject({ output: 'x' })
  })

  it('checks the output, with and without toModelOutput', async () => {
    const lies = tool({
      inputSchema: z.object({}),
      outputSchema: z.object({ n: z.number() }),
      execute: () => ({ n: 'x' }) as never,
    })
    const shown = { ...lies, toModelOutput: () => ({ type: 'text', value: 'fine' }) } as ForeignAiSdkTool
    const hub = open({ tools: fromAiSdk({ lies, shown }, PURE) })
    for (const name of ['lies', 'shown'])
      expect((await hub.callDynamic(name, {})).error?.code, name).toBe('OUTPUT_SCHEMA_INVALID')
  })

  it('asks for a tool with needsApproval, whatever a rule allows, and for every call where that is a function', async () => {
    const asked: string[] = []
    const careful = { ...add, needsApproval: true }
    const sometimes = { ...add, needsApproval: ({ a }: { a: number }) => a > 100 }
    const tools = [
      ...fromAiSdk({ careful, sometimes, never: { ...add, needsApproval: false } }, PURE),
      ...fromAiSdk({ mine: careful }, { ...PURE, needsApproval: false }),
    ]
    const hub = open({
      tools,
      policy: [{ allow: '*' }],
      approve: ({ tool, reason }) => {
        asked.push(`${tool}: ${reason}`)
        return { decision: 'allow' }
      },
    })
    for (const { name } of tools) expect((await hub.callDynamic(name, { a: 1 })).ok, name).toBe(true)
    expect(asked).toEqual([
      expect.stringMatching(/^careful: .*needsApproval/),
      expect.stringMatching(/^sometimes: .*needsApproval/),
    ])
  })

  it('passes on what a tool throws, and takes nothing for null', async () => {
    const fails = tool({
      inputSchema: z.object({}),
      execute: (): string => {
        throw new Error('the oven is \u001b[31mcold')
      },
    })
    const silent = tool({ inputSchema: z.object({}), execute: async () => {} })
    const hub = open({ tools: fromAiSdk({ fails, silent } as never, PURE) })
    expect((await hub.callDynamic('fails', {})).error).toMatchObject({
      code: 'TOOL_FAILED',
      message: 'fails failed: the oven is \\u{1b}[31mcold',
    })
    expect(await hub.callDynamic('silent', {})).toMatchObject({ ok: true, data: null })
  })

  it('takes every kind of schema that the AI SDK has', async () => {
    const execute = async (input: unknown) => input
    const object = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } as const
    const own = {
      validate: async (value: unknown) =>
        (value as { n: number }).n > 0
          ? { success: true as const, value: { n: 1 } }
          : { success: false as const, error: new Error('must be positive') },
    }
    const tools = fromAiSdk(
      {
        plain: dynamicTool({ inputSchema: jsonSchema(object), execute }),
        checked: dynamicTool({ inputSchema: jsonSchema(() => object, own), execute }),
        lazy: dynamicTool({ inputSchema: () => jsonSchema(object), execute }),
        none: { inputSchema: undefined, execute },
      },
      PURE,
    )
    const hub = open({ tools })
    expect((await hub.callDynamic('plain', { n: 'x' })).error?.code).toBe('INPUT_SCHEMA_INVALID')
    expect((await hub.callDynamic('lazy', { n: 2 })).data).toEqual({ n: 2 })
    expect((await hub.callDynamic('checked', { n: 5 })).data).toEqual({ n: 1 })
    expect((await hub.callDynamic('checked', { n: -5 })).error?.message).toContain('must be positive')
    expect((await hub.callDynamic('none', { n: 1 })).error?.code).toBe('INPUT_SCHEMA_INVALID')
    expect(hub.cards().find(({ tool }) => tool === 'checked')?.parameters).toMatchObject(object)
  })

  it('immediately refuses what it could never run, and says what to do', () => {
    const browserOnly = tool({ inputSchema: z.object({}), outputSchema: z.string() })
    expect(() => fromAiSdk({ browserOnly })).toThrow('browserOnly cannot be governed here: it has no execute function')
    const search = { type: 'provider', inputSchema: z.object({}) }
    expect(() => fromAiSdk({ search })).toThrow('the model provider runs it itself')
    expect(() => fromAiSdk(add, {} as never)).toThrow('has no name')
    expect(() => fromAiSdk({ 'my tool': add })).toThrow('"my tool" is not a tool name')
    expect(() => fromAiSdk({ late: { ...add, inputSchema: jsonSchema(Promise.resolve({})) } })).toThrow('promise')
    const old = { ...add, inputSchema: z3.object({ a: z3.number() }) } as ForeignAiSdkTool
    expect(() => fromAiSdk({ old })).toThrow('has no JSON Schema form')
    expect(fromAiSdk({ old }, { input: { type: 'object' } })[0]!.name).toBe('old')
  })
})
