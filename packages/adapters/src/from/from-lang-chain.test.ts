import { ToolMessage } from '@langchain/core/messages'
import { DynamicTool, tool } from '@langchain/core/tools'
import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { z as z3 } from 'zod/v3'
import type { CallEvent } from '../../../core/src/events.ts'
import type { AnyTool } from '../../../core/src/tool.ts'
import { testHub } from '../../../testing/src/tool-contract.ts'
import { fromLangChain, type LangChainTool } from './from-lang-chain.ts'

const PURE = { capabilities: [] } as const
const hub = testHub()
afterAll(() => hub.close())

const take = (given: LangChainTool, governance = PURE as Parameters<typeof fromLangChain>[1]): AnyTool => {
  const taken = fromLangChain(given, governance)
  hub.registry.register(taken)
  return taken
}

describe('fromLangChain', () => {
  it('takes a tool in: its schema checks, its text is what a model sees', async () => {
    take(
      tool(({ city, days }) => `${city}: ${days} days of sun`, {
        name: 'weather',
        description: 'The weather of a city.',
        schema: z.object({ city: z.string(), days: z.number().default(3) }),
      }),
    )
    expect(await hub.callDynamic('weather', { city: 'Rome' })).toMatchObject({
      ok: true,
      data: { content: [{ type: 'text', text: 'Rome: 3 days of sun' }], artifact: null },
      content: [{ type: 'text', text: 'Rome: 3 days of sun' }],
    })
    expect((await hub.callDynamic('weather', { city: 1 })).error?.code).toBe('INPUT_SCHEMA_INVALID')
    expect(hub.cards().find((card) => card.tool === 'weather')).toMatchObject({
      description: 'The weather of a city.',
      parameters: { required: ['city'] },
    })
  })

  it('lets policy judge the parsed arguments and the tool parse the raw ones', async () => {
    const shift = tool(({ at }) => at.toISOString(), {
      name: 'shift',
      description: '',
      schema: z.object({ at: z.iso.datetime().transform((text) => new Date(text)) }),
    })
    const judged: unknown[] = []
    const targets = ({ at }: { at: unknown }) => {
      judged.push(at)
      return { remote: [] }
    }
    take(shift as never, { capabilities: ['remote'], targets })
    expect((await hub.callDynamic('shift', { at: '2026-01-01T00:00:00Z' })).content).toEqual([
      { type: 'text', text: '2026-01-01T00:00:00.000Z' },
    ])
    expect(judged[0]).toBeInstanceOf(Date)
  })

  it('takes JSON Schema, and a tool that takes one text', async () => {
    take(
      tool((input) => JSON.stringify(input), {
        name: 'json',
        description: '',
        schema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
      }) as never,
    )
    expect((await hub.callDynamic('json', { n: 1 })).content).toEqual([{ type: 'text', text: '{"n":1}' }])
    expect((await hub.callDynamic('json', {})).error?.code).toBe('INPUT_SCHEMA_INVALID')
    take(new DynamicTool({ name: 'upper', description: '', func: async (text) => text.toUpperCase() }))
    expect((await hub.callDynamic('upper', { input: 'abc' })).content).toEqual([{ type: 'text', text: 'ABC' }])
  })

  it('keeps an artifact as data that no model sees', async () => {
    take(
      tool(() => ['2 rows', { rows: [1, 2] }], {
        name: 'rows',
        description: '',
        schema: z.object({}),
        responseFormat: 'content_and_artifact',
      }),
    )
    expect(await hub.callDynamic('rows', {})).toMatchObject({
      content: [{ type: 'text', text: '2 rows' }],
      data: { artifact: { rows: [1, 2] } },
    })
  })

  it('understands messages and blocks of either generation', async () => {
    const blocks = [
      { type: 'text', text: 'a' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
      { type: 'image', source_type: 'base64', data: 'eA==', mime_type: 'image/jpeg' },
      { type: 'audio', data: 'eQ==', mimeType: 'audio/wav' },
      { type: 'file', url: 'https://example.org/a.pdf', mimeType: 'application/pdf', metadata: { filename: 'a.pdf' } },
      { type: 'reasoning', reasoning: 'hm' },
    ]
    take(
      tool((_, { toolCall }) => new ToolMessage({ content: blocks as never, tool_call_id: toolCall!.id! }), {
        name: 'blocks',
        description: '',
        schema: z.object({}),
      }),
    )
    expect((await hub.callDynamic('blocks', {})).content).toEqual([
      { type: 'text', text: 'a' },
      { type: 'image', data: 'aGk=', mediaType: 'image/png' },
      { type: 'image', data: 'eA==', mediaType: 'image/jpeg' },
      { type: 'audio', data: 'eQ==', mediaType: 'audio/wav' },
      { type: 'resource-link', uri: 'https://example.org/a.pdf', name: 'a.pdf', mediaType: 'application/pdf' },
      { type: 'text', text: '{"type":"reasoning","reasoning":"hm"}' },
    ])
  })

  it('ends a call as a failure when the message is an error, or the tool throws', async () => {
    const message = { content: 'quota is used up', status: 'error' as const, tool_call_id: 'x' }
    take(tool(() => new ToolMessage(message), { name: 'failing', description: '', schema: z.object({}) }))
    expect((await hub.callDynamic('failing', {})).error).toMatchObject({
      code: 'TOOL_FAILED',
      message: 'failing failed: quota is used up',
      retryable: false,
    })
    const throws = (): string => {
      throw new Error('no such table')
    }
    take(tool(throws, { name: 'throwing', description: '', schema: z.object({}) }))
    expect((await hub.callDynamic('throwing', {})).error?.message).toBe('throwing failed: no such table')
  })

  it('hands over call id and signal, and tells what a generator yields as progress', async () => {
    let id: string | undefined
    async function* steps(_: unknown, config: { toolCall?: { id?: string } }) {
      id = config.toolCall?.id
      yield 'half'
      yield { percent: 90 }
      return 'done'
    }
    take(tool(steps as never, { name: 'steps', description: '', schema: z.object({}) }) as never)
    const events: CallEvent[] = []
    const result = await hub.callDynamic('steps', {}, { onEvent: (event) => events.push(event) })
    expect(result.content).toEqual([{ type: 'text', text: 'done' }])
    expect(id).toBe(result.callId)
    expect(events.flatMap((event) => (event.type === 'call-progressed' ? event.content : []))).toEqual([
      { type: 'text', text: 'half' },
      { type: 'text', text: '{"percent":90}' },
    ])
  })

  it('stops when the call is aborted', async () => {
    const abort = new AbortController()
    const hang = () => {
      setImmediate(() => abort.abort())
      return new Promise<string>(() => {})
    }
    take(tool(hang, { name: 'hanging', description: '', schema: z.object({}) }))
    const result = await hub.callDynamic('hanging', {}, { signal: abort.signal })
    expect(result).toMatchObject({ status: 'aborted' })
    expect(result.meta.abandoned).toBeUndefined()
  })

  it('refuses what it could never run, and says what to do', async () => {
    const old = { name: 'old', schema: z3.object({ a: z3.number() }), invoke: async () => 'x' }
    expect(() => fromLangChain(old)).toThrow('has no JSON Schema form')
    expect(() => fromLangChain({ ...old, schema: {}, name: 'has blanks' })).toThrow('is not a tool name')
    expect(fromLangChain({ ...old, schema: {}, name: 'has blanks' }, { name: 'fine' }).capabilities).toEqual(['exec'])
    expect(() => fromLangChain({ name: 'x', schema: {} } as never)).toThrow('has no invoke function')
    take({ name: 'graph', schema: {}, invoke: async () => ({ lg_name: 'Command', update: {} }) })
    expect((await hub.callDynamic('graph', {})).error?.message).toContain('only a LangGraph graph can follow')
  })
})
