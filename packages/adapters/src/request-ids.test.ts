import { ToolMessage } from '@langchain/core/messages'
import { DynamicStructuredTool } from '@langchain/core/tools'
import { afterEach, expect, it } from 'vitest'
import { defineTool } from '../../core/src/tool.ts'
import { type TestHub, testHub } from '../../testing/src/tool-contract.ts'
import { toAgentTools } from './agent-tools.ts'
import { toAiSdk } from './ai-sdk.ts'
import { toAnthropic } from './anthropic.ts'
import { toLangChain } from './langchain.ts'
import { toOpenAi } from './openai.ts'
import { type OpenAiAgentsToolOptions, toOpenAiAgents } from './openai-agents.ts'

const send = defineTool({
  name: 'mail.send',
  description: 'Sends, for tests.',
  input: { type: 'object', properties: {} },
  capabilities: ['danger:destructive'],
  execute: () => 'sent',
})

/** Makes one call with the id `call-7`, each as its framework does. */
const CALLS: Record<string, (hub: TestHub) => unknown> = {
  'OpenAI chat': (hub) =>
    toOpenAi(hub).chat.run({
      tool_calls: [{ id: 'call-7', type: 'function', function: { name: 'mail_send', arguments: '{}' } }],
    }),
  'OpenAI responses': (hub) =>
    toOpenAi(hub).responses.run([{ type: 'function_call', call_id: 'call-7', name: 'mail_send', arguments: '{}' }]),
  Anthropic: (hub) => toAnthropic(hub).run([{ type: 'tool_use', id: 'call-7', name: 'mail_send', input: {} }]),
  LangChain: (hub) =>
    toLangChain(hub, { DynamicStructuredTool, ToolMessage, names: ['mail.send'] })[0]?.invoke({
      ...{ name: 'mail_send', args: {}, id: 'call-7', type: 'tool_call' },
    }),
  'the OpenAI Agents SDK': (hub) =>
    toOpenAiAgents(hub, {
      names: ['mail.send'],
      approvals: 'hub',
      tool: (options: OpenAiAgentsToolOptions) => options,
    })[0]?.execute({}, undefined, { toolCall: { callId: 'call-7' } } as never),
  'the AI SDK': async (hub) => {
    const tools = toAiSdk(hub, { names: ['mail.send'], approvals: 'hub', progress: false })
    await tools.mail_send?.execute?.({}, { toolCallId: 'call-7', messages: [] } as never)
  },
  'agent tools': (hub) => toAgentTools(hub, { names: ['mail.send'] })[0]?.execute('call-7', {}),
}

const hubs: TestHub[] = []
afterEach(async () => {
  await Promise.all(hubs.splice(0).map((hub) => hub.close()))
})

it.each(Object.entries(CALLS))(
  'approvers get the id of the provider as requestId, in the run of the hub: %s',
  async (_, call) => {
    const asked: unknown[] = []
    const hub: TestHub = testHub({
      tools: [send],
      policy: [{ ask: 'mail.send' }],
      sandbox: {},
      approve: ({ requestId, run }) => {
        asked.push({ requestId, run })
        return { decision: 'allow', by: 'test' }
      },
    }) as unknown as TestHub
    hubs.push(hub)
    await call(hub)
    expect(asked).toEqual([{ requestId: 'call-7', run: hub.run }])
  },
)
