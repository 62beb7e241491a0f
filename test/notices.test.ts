import { ToolMessage } from '@langchain/core/messages'
import { DynamicStructuredTool } from '@langchain/core/tools'
import { Agent, type AgentInputItem, tool as agentTool, Runner, setTracingDisabled } from '@openai/agents-core'
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents-core/testing'
import { ToolError } from '@tool-hub/core/errors'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { toAgentTools } from '../packages/adapters/src/agent-tools.ts'
import { toAnthropic } from '../packages/adapters/src/anthropic.ts'
import { createExecutor } from '../packages/adapters/src/executor.ts'
import { toLangChain } from '../packages/adapters/src/langchain.ts'
import { toOpenAi } from '../packages/adapters/src/openai.ts'
import { toOpenAiAgents } from '../packages/adapters/src/openai-agents.ts'
import type { HubOptions } from '../packages/core/src/options.ts'
import { defineTool } from '../packages/core/src/tool.ts'
import { type TestHub, testHub } from '../packages/testing/src/tool-contract.ts'
import { driveAiSdk } from './support/drive-ai-sdk.ts'
import { useServedHubs } from './support/mcp-served.ts'

setTracingDisabled(true)

const CHANGED = 'anna changed the arguments before the call ran.'

const post = defineTool({
  name: 'chat.post',
  description: 'Posts a text.',
  input: z.strictObject({ text: z.string() }),
  capabilities: ['remote'],
  targets: () => ({ remote: 'chat:board' }),
  execute: ({ text }, ctx) => {
    ctx.notice('The board is\nalmost full.')
    if (text === 'THROW') throw new Error('The board is offline.')
    if (text === 'FAIL') throw new ToolError('UPSTREAM_ERROR', 'The board said 503.')
    return `posted ${text}`
  },
})

/** Somebody changes what every call says, and the budget is used up soon. */
function noticingHub(text = 'CHANGED'): HubOptions {
  return {
    tools: [post],
    policy: [{ ask: 'remote' }],
    limits: { run: { calls: 1 } },
    approve: () => ({ decision: 'allow', by: 'anna', input: { text } }),
  }
}

const hubs: TestHub[] = []
afterEach(async () => {
  await Promise.all(hubs.splice(0).map((hub) => hub.close({ abort: true })))
})
function start(text?: string): TestHub {
  const hub = testHub(noticingHub(text)) as TestHub
  hubs.push(hub)
  return hub
}

const LINES = [`Notice: ${CHANGED}`, 'Notice: The board is\\nalmost full.', 'Notice: This run has used 1 of 1 calls']

describe('notices reach the model', () => {
  it('at the end of content, one line each, and stay in meta', async () => {
    const { ok, content, meta, summary } = await start().callDynamic('chat.post', { text: 'hi' })
    expect([ok, summary, meta.notices?.length]).toEqual([true, 'posted CHANGED', 3])
    const texts = content.map((block) => (block.type === 'text' ? block.text : ''))
    expect(texts).toHaveLength(4)
    expect(texts[0]).toBe('posted CHANGED')
    for (const line of LINES) expect(texts.filter((text) => text.startsWith(line))).toHaveLength(1)
    expect(texts.slice(1).every((text) => !text.includes('\n'))).toBe(true)
  })

  it('also of a call that failed', async () => {
    const { ok, content } = await start('FAIL').callDynamic('chat.post', { text: 'hi' })
    const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('\n')
    expect(ok).toBe(false)
    expect(text).toMatch(/^UPSTREAM_ERROR: The board said 503\./)
    expect(text).toContain(LINES[0])
  })

  it('over OpenAI', async () => {
    const { chat } = toOpenAi(start())
    const call = { id: 'c1', type: 'function', function: { name: 'chat_post', arguments: '{"text":"hi"}' } }
    const [message] = await chat.run({ tool_calls: [call] } as never)
    expectAll((message as { content: string }).content)
  })

  it('over Anthropic', async () => {
    const [result] = await toAnthropic(start()).run([
      { type: 'tool_use', id: 'c1', name: 'chat_post', input: { text: 'hi' } },
    ])
    expectAll(String(result!.content))
  })

  it('over the AI SDK', async () => {
    const calls = [{ name: 'chat_post', args: { text: 'hi' }, ends: 'ok' as const }]
    const { heard } = await driveAiSdk(start(), [
      { says: 'I post.', calls },
      { says: 'Done.', calls: [] },
    ])
    expectAll(JSON.stringify(heard).replaceAll('\\\\', '\\'))
  })

  it('over LangChain', async () => {
    const tools = toLangChain(start(), { DynamicStructuredTool, ToolMessage } as never) as DynamicStructuredTool[]
    const tool = tools.find(({ name }) => name === 'chat_post')!
    expectAll(String(await tool.invoke({ text: 'hi' })))
  })

  it('over the OpenAI Agents SDK', async () => {
    const model = new ScriptedModel([
      [functionCall('chat_post', { text: 'hi' }, { callId: 'c1' })],
      [assistantMessage('Done.')],
    ])
    const tools = toOpenAiAgents(start(), { tool: agentTool, names: ['chat.post'], approvals: 'hub' })
    await new Runner({ tracingDisabled: true }).run(new Agent({ name: 'Helper', model, tools }), 'Post.')
    const outputs = (model.lastCall!.request.input as AgentInputItem[]).flatMap((item) =>
      item.type === 'function_call_result' ? [item.output as { text: string }] : [],
    )
    expectAll(outputs[0]!.text)
  })

  it.each(['CHANGED', 'FAIL', 'THROW'])('over an executor, of one that says %s', async (text) => {
    const executor = createExecutor(start(text))
    const { content } = await executor.execute({ id: 'c1', name: 'chat.post', arguments: '{"text":"hi"}' })
    expectAll(content)
    if (text === 'THROW') expect(content).toMatch(/^The board is offline\.\n/)
  })

  it.each(['CHANGED', 'FAIL', 'THROW'])('over agent tools, of one that says %s', async (text) => {
    const [tool] = toAgentTools(start(text), { names: ['chat.post'] })
    const { content } = await tool!.execute('c1', { text: 'hi' })
    expectAll(content.map((block) => ('text' in block ? block.text : '')).join('\n'))
  })
})

describe('notices reach the model over MCP', () => {
  const { serve, connect } = useServedHubs()
  it.each(['legacy', 'modern'] as const)('with a %s client', async (era) => {
    const { url } = await serve(noticingHub())
    const client = await connect(url, era)
    const { content } = await client.callTool({ name: 'chat_post', arguments: { text: 'hi' } })
    expectAll(content.map((block) => (block.type === 'text' ? block.text : '')).join('\n'))
  })
})

function expectAll(text: string): void {
  for (const line of LINES) expect(text).toContain(line)
}
