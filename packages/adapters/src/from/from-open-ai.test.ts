import type { ChatCompletionFunctionTool } from 'openai/resources/chat/completions'
import type { FunctionTool } from 'openai/resources/responses/responses'
import { afterAll, describe, expect, it } from 'vitest'
import type { CallEvent } from '../../../core/src/events.ts'
import { testHub } from '../../../testing/src/tool-contract.ts'
import { fromOpenAi } from './from-open-ai.ts'

const PURE = { capabilities: [] } as const
const hub = testHub()
afterAll(() => hub.close())

const parameters = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
}
const chat: ChatCompletionFunctionTool = {
  type: 'function',
  function: { name: 'weather', description: 'The weather of a city.', parameters, strict: true },
}
const responses: FunctionTool = { type: 'function', name: 'forecast', parameters, strict: true }

describe('fromOpenAi', () => {
  it('takes definitions of both APIs in, with the code that does it', async () => {
    for (const definition of [chat, responses]) {
      const tool = fromOpenAi(definition, ({ city }: { city: string }) => ({ city, sun: true }), PURE)
      hub.registry.register(tool)
      expect((await hub.callDynamic(tool.name, { city: 'Rome' })).data).toEqual({ city: 'Rome', sun: true })
      expect((await hub.callDynamic(tool.name, { town: 'x' })).error?.code).toBe('INPUT_SCHEMA_INVALID')
    }
    expect(hub.registry.get('weather')?.description).toBe('The weather of a city.')
    expect(hub.registry.get('forecast')?.description).toBe('forecast.')
  })

  it('hands over call id, signal and a way to tell progress', async () => {
    const abort = new AbortController()
    const events: CallEvent[] = []
    const tool = fromOpenAi(
      { type: 'function', name: 'slow' },
      (_, { callId, signal, progress }) => {
        progress(`call ${callId.length > 0}`)
        abort.abort()
        return signal.aborted
      },
      PURE,
    )
    hub.registry.register(tool)
    const options = { signal: abort.signal, onEvent: (event: CallEvent) => events.push(event) }
    expect((await hub.callDynamic('slow', {}, options)).status).toBe('aborted')
    expect(events).toContainEqual(expect.objectContaining({ content: [{ type: 'text', text: 'call true' }] }))
    expect((await hub.callDynamic('slow', { any: 1 })).error?.code).toBe('INPUT_SCHEMA_INVALID')
  })

  it('refuses what is not a function definition', () => {
    expect(() => fromOpenAi({ type: 'web_search' } as never, () => 1)).toThrow('is not a function definition')
    expect(() => fromOpenAi(responses, undefined as never)).toThrow('has no handler')
    expect(() => fromOpenAi({ type: 'function', name: '1st' }, () => 1)).toThrow('is not a tool name')
    expect(fromOpenAi({ type: 'function', name: '1st' }, () => 1, { name: 'first' })).toMatchObject({
      name: 'first',
      capabilities: ['exec'],
    })
  })
})
