import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from 'vitest'
import type { ToolSource } from '../../core/src/source.ts'
import { defineTool } from '../../core/src/tool.ts'
import { testHub } from '../../testing/src/tool-contract.ts'
import { toAgentTools } from './agent-tools.ts'
import { toAiSdk } from './ai-sdk.ts'
import { toAnthropic } from './anthropic.ts'
import { toLangChain } from './langchain.ts'
import { toOpenAi } from './openai.ts'
import { toOpenAiAgents } from './openai-agents.ts'

const late = defineTool({
  name: 'late.tool',
  description: 'Comes late, for tests.',
  input: { type: 'object', properties: {} },
  execute: () => 1,
})

let warn: MockInstance
beforeEach(() => {
  warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
})
afterEach(() => void vi.restoreAllMocks())

class Fields {
  readonly name: string
  constructor(fields: { readonly name: string }) {
    this.name = fields.name
  }
}

const ADAPTERS: Record<string, (hub: ReturnType<typeof testHub>) => unknown> = {
  'the AI SDK': (hub) => toAiSdk(hub),
  'OpenAI chat': (hub) => toOpenAi(hub).chat.tools,
  'OpenAI responses': (hub) => toOpenAi(hub).responses.tools,
  Anthropic: (hub) => toAnthropic(hub).tools,
  LangChain: (hub) => toLangChain(hub, { DynamicStructuredTool: Fields, ToolMessage: Fields }),
  'the OpenAI Agents SDK': (hub) => toOpenAiAgents(hub, { tool: (options) => options }),
  'agent tools': (hub) => toAgentTools(hub),
}

/** Like an MCP server: it has started, and its tools come when it has connected. */
function connecting(): ToolSource & { readonly connect: () => void } {
  let connect = () => {}
  const connected = new Promise<void>((resolve) => {
    connect = resolve
  })
  return {
    name: 'mcp',
    connect: () => connect(),
    start: (host) => host.expect('late.', () => connected.then(() => host.offer([late]))),
  }
}

describe('a list of tools that is made while some still load', () => {
  it.each(Object.entries(ADAPTERS))('gives one warning per hub: %s', async (_, list) => {
    const source = connecting()
    const hub = testHub({ sources: [source] })
    list(hub)
    list(hub)
    expect(warn.mock.calls).toEqual([
      [expect.stringMatching(/while mcp still loads.*await hub\.ready\(\{ all: true \}\) first/), 'ToolHubWarning'],
    ])
    source.connect()
    await hub.ready({ all: true })
    await hub.close()
  })

  it.each(Object.entries(ADAPTERS))('gives none when all have loaded: %s', async (_, list) => {
    const source = connecting()
    const hub = testHub({ sources: [source] })
    source.connect()
    await hub.ready({ all: true })
    expect(hub.loading).toEqual([])
    expect(JSON.stringify(list(hub))).toContain('late_tool')
    expect(warn).not.toHaveBeenCalled()
    await hub.close()
  })

  it('gives none for a hub whose tools are all there from the start', async () => {
    const hub = testHub()
    expect(hub.loading).toEqual([])
    for (const list of Object.values(ADAPTERS)) list(hub)
    expect(warn).not.toHaveBeenCalled()
    await hub.close()
  })

  it('names skills, plugins and failed servers as long as they load, for principals as well', async () => {
    const hub = testHub({
      skills: ['no-such-folder'],
      mcpServers: { bad: { command: 'nope-not-there' } },
      plugins: [{ name: 'p', setup: async () => {} }],
    })
    const principal = hub.as({ name: 'token:ci' })
    expect(hub.loading).toEqual(['plugins', 'mcp', 'skills'])
    expect(principal.loading).toEqual(hub.loading)
    await hub.ready({ all: true })
    expect([hub.loading, principal.loading]).toEqual([[], []])
    await hub.close()
  })
})
