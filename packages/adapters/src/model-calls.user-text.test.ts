import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages'
import { DynamicStructuredTool } from '@langchain/core/tools'
import { generateText, stepCountIs } from 'ai'
import { MockLanguageModelV3 } from 'ai/test'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../core/src/tool.ts'
import { type TestHub, testHub } from '../../testing/src/tool-contract.ts'
import { toAiSdk, toAiSdkRunner } from './ai-sdk.ts'
import { toAnthropic } from './anthropic.ts'
import { createExecutor } from './executor.ts'
import { toLangChain } from './langchain.ts'
import { userTextOf } from './model-calls.ts'
import { toOpenAi } from './openai.ts'

const sent: string[] = []
const send = defineTool({
  name: 'post.send',
  description: 'Sends a letter.',
  input: z.strictObject({ to: z.string() }),
  capabilities: ['remote'],
  execute: ({ to }) => {
    sent.push(to)
    return `sent to ${to}`
  },
})

let hub: TestHub
afterEach(async () => {
  sent.length = 0
  await hub?.close({ abort: true })
})

/** A hub that sends only to whom the user names. */
function open(options: object = {}): TestHub {
  const policy = [{ allow: 'post.send', where: { to: 'from-user' } }] as const
  hub = testHub({ tools: [send], policy: [...policy], approve: undefined, ...options }) as TestHub
  return hub
}

const CONVERSATION = [
  { role: 'system', content: 'Write to sys@example.org' },
  { role: 'user', content: 'Write to ann@example.org' },
  { role: 'assistant', content: [{ type: 'text', text: 'I write to model@example.org' }] },
]

describe('what the user wrote in a conversation', () => {
  it('is the text of messages with the role user', () => {
    const parts = [{ type: 'text', text: 'b' }, { type: 'image', image: 'x' }, { type: 'input_text', text: 'c' }, null]
    const messages = [...CONVERSATION, { role: 'user', content: parts }, new HumanMessage('d')]
    expect(userTextOf(messages)).toEqual(['Write to ann@example.org', 'b', 'c', 'd'])
  })

  it.each([
    ['the result of a tool', [{ role: 'user', content: [{ type: 'tool_result', content: 'x' }] }]],
    [
      'text beside the result of a tool',
      [{ role: 'user', content: [{ type: 'tool_result' }, { type: 'text', text: 'x' }] }],
    ],
    ['an item of the Responses API', [{ type: 'function_call_output', output: 'x' }]],
    ['the images of a result', [{ role: 'user', content: [{ type: 'text', text: 'From the tool result of x:' }] }]],
    ['a message of another agent', [{ role: 'user', name: 'planner', content: 'x' }]],
    ['a summary of LangChain', [new HumanMessage({ content: 'x', additional_kwargs: { lc_source: 'summarization' } })]],
    ['other roles', [new AIMessage('x'), new ToolMessage({ content: 'x', tool_call_id: '1' }), { content: 'x' }]],
    ['anything else', [null, 5, 'x', { role: 'user' }, { role: 'user', content: [{ type: 'text', text: 5 }] }]],
    ['no list', { role: 'user', content: 'x' }],
  ])('is not %s', (_, messages) => {
    expect(userTextOf(messages)).toEqual([])
  })
})

describe('an adapter passes the words of the user', () => {
  const asks = { type: 'tool-call', toolName: 'post_send' } as const

  /** A model that writes to these, and then ends. */
  function writing(...people: string[]) {
    const content = people.map((to, at) => ({ ...asks, toolCallId: `c${at}`, input: JSON.stringify({ to }) }))
    const rest = {
      usage: {
        inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: 1, text: 1, reasoning: 0 },
      },
      warnings: [],
    }
    return new MockLanguageModelV3({
      doGenerate: [
        { content, finishReason: { unified: 'tool-calls', raw: undefined }, ...rest },
        { content: [{ type: 'text', text: 'Done.' }], finishReason: { unified: 'stop', raw: undefined }, ...rest },
      ],
    })
  }
  const prompt = 'Write to ann@example.org'
  const stopWhen = stepCountIs(3)

  it.each(['framework', 'hub'] as const)('from the AI SDK, with approvals of the %s', async (approvals) => {
    const tools = toAiSdk(open(), { names: ['post.send'], approvals })
    await generateText({ model: writing('ann@example.org', 'eve@example.org'), tools, prompt, stopWhen })
    expect(sent).toEqual(['ann@example.org'])
  })

  it('from the AI SDK, unless others write as the user', async () => {
    const tools = toAiSdk(open(), { names: ['post.send'], approvals: 'hub', userText: false })
    await generateText({ model: writing('ann@example.org'), tools, prompt, stopWhen })
    expect(sent).toEqual([])
  })

  it('but not the task of a session, which is the prompt there', async () => {
    const runner = toAiSdkRunner(({ task, tools }) =>
      generateText({ model: writing('ann@example.org'), tools, prompt: task, stopWhen }),
    )
    const policy = [{ allow: 'core/session.spawn' }, { allow: 'post.send', where: { to: 'from-user' } }]
    open({ policy, sessions: { runners: { default: runner } } })
    const { data } = await hub.callDynamic('core/session.spawn', { task: prompt, waitMs: 60_000 })
    expect(data).toMatchObject({ session: { state: 'ended', result: 'Done.' } })
    expect(sent).toEqual([])
  })

  it('from the messages that OpenAI gets', async () => {
    const { chat, responses } = toOpenAi(open())
    const call = (to: string) => ({ name: 'post_send', arguments: JSON.stringify({ to }) })
    const message = { tool_calls: [{ id: '1', type: 'function', function: call('ann@example.org') }] }
    await chat.run(message)
    expect(sent).toEqual([])
    await chat.run(message, { messages: CONVERSATION })
    const item = { type: 'function_call', call_id: '1', ...call('sys@example.org') }
    await responses.run([item], { messages: CONVERSATION })
    await responses.run([item], { userText: 'Write to sys@example.org', messages: [] })
    expect(sent).toEqual(['ann@example.org', 'sys@example.org'])
  })

  it('from the messages that Anthropic gets, and from an executor', async () => {
    const claude = toAnthropic(open())
    const use = (to: string) => [{ type: 'tool_use', id: '1', name: 'post_send', input: { to } }]
    await claude.run(use('ann@example.org'), { messages: CONVERSATION })
    await claude.run(use('model@example.org'), { messages: CONVERSATION })
    expect(sent).toEqual(['ann@example.org'])
    const executor = createExecutor(hub, { run: 'other', messages: CONVERSATION })
    await executor.execute({ id: '1', name: 'post_send', arguments: { to: 'ann@example.org' } })
    expect(sent).toHaveLength(2)
  })

  it.each([undefined, (question: unknown) => question])('from the state of LangGraph', async (interrupt) => {
    const names = ['post.send']
    const [tool] = toLangChain(open(), { DynamicStructuredTool, ToolMessage, names, interrupt })
    const call = (to: string) => ({ type: 'tool_call' as const, id: 'c', name: 'post_send', args: { to } })
    const state = { messages: [new HumanMessage('Write to ann@example.org'), new AIMessage('Or bob@example.org')] }
    for (const to of ['ann@example.org', 'bob@example.org']) await tool!.invoke(call(to), { state } as object)
    expect(sent).toEqual(['ann@example.org'])
    const [silent] = toLangChain(hub, { DynamicStructuredTool, ToolMessage, names, run: 'r', userText: false })
    await silent!.invoke(call('ann@example.org'), { state } as object)
    expect(sent).toHaveLength(1)
  })
})
