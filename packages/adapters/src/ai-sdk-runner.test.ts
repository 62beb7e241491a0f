import { generateText, stepCountIs } from 'ai'
import { MockLanguageModelV3 } from 'ai/test'
import { afterEach, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../core/src/tool.ts'
import { type TestHub, testHub } from '../../testing/src/tool-contract.ts'
import { toAiSdkRunner } from './ai-sdk.ts'

const add = defineTool({
  name: 'math.add',
  description: 'Adds.',
  input: z.strictObject({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => ({ sum: a + b }),
})
const say = defineTool({ name: 'text.say', description: 'Says.', input: z.strictObject({}), execute: () => 'said' })

let hub: TestHub | undefined
afterEach(() => hub?.close({ abort: true }))

/** Calls a tool, then says how it went. */
function model() {
  let turn = 0
  return new MockLanguageModelV3({
    doGenerate: async ({ prompt }) => {
      const isFirst = turn++ === 0
      const heard = JSON.stringify(prompt.at(-1))
      return {
        content: isFirst
          ? [{ type: 'tool-call', toolCallId: '1', toolName: 'math_add', input: '{"a":1,"b":2}' }]
          : [{ type: 'text', text: heard.includes('sum') ? 'The sum is 3.' : heard }],
        finishReason: { unified: isFirst ? 'tool-calls' : 'stop', raw: undefined },
        usage: {
          inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
          outputTokens: { total: 1, text: 1, reasoning: 0 },
        },
        warnings: [],
      }
    },
  })
}

it('an agent of the AI SDK works in a session with the tools that it may call', async () => {
  const shown: string[] = []
  const runner = toAiSdkRunner(
    ({ task, tools, signal }) => {
      shown.push(...Object.keys(tools))
      return generateText({ model: model(), tools, prompt: task, abortSignal: signal, stopWhen: stepCountIs(5) })
    },
    { tools: ['math.add'], description: 'Adds numbers.' },
  )
  hub = testHub({ tools: [add, say], sessions: { runners: { adder: runner } } }) as TestHub
  const { data } = await hub.callDynamic('core/session.spawn', { task: 'Add.', runner: 'adder', waitMs: 60_000 })
  expect(data).toMatchObject({ session: { state: 'ended', result: 'The sum is 3.' } })
  expect(shown).toEqual(['math_add'])
  const { id } = (data as { session: { id: string } }).session
  expect((await hub.sessions.history(id)).entries).toMatchObject([{ tool: 'math.add', status: 'ok' }])
})

it('an agent of the AI SDK that fails ends its session with a reason', async () => {
  hub = testHub({
    sessions: { runners: { default: toAiSdkRunner(() => Promise.reject(new Error('no key'))) } },
  }) as TestHub
  const { data } = await hub.callDynamic('core/session.spawn', { task: 'x', waitMs: 60_000 })
  expect(data).toMatchObject({ session: { state: 'failed', reason: 'no key' } })
})
