import { tool as langChainTool } from '@langchain/core/tools'
import { tool as aiTool } from 'ai'
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { fromAiSdk } from '../../../../adapters/src/from/from-ai-sdk.ts'
import { fromLangChain } from '../../../../adapters/src/from/from-lang-chain.ts'
import { fromMcpTool } from '../../../../adapters/src/from/from-mcp-tool.ts'
import { fromOpenAi } from '../../../../adapters/src/from/from-open-ai.ts'
import { connectClient } from '../../../../adapters/src/sources/client-tools/connect-client.ts'
import { fromOpenApi } from '../../../../adapters/src/sources/openapi/from-open-api.ts'
import { fromAgentTool } from '../../../../core/src/from-agent-tool.ts'
import { defineTool } from '../../../../core/src/tool.ts'
import { testHub } from '../../../../testing/src/tool-contract.ts'

const parameters = { type: 'object', properties: {} }
const empty = { content: [] }

it('a listing says of what kind each tool is', async () => {
  const hub = testHub({
    skills: [],
    tools: [
      defineTool({ name: 'own', description: 'x', input: {}, execute: () => 1 }),
      fromLangChain(langChainTool(() => 'x', { name: 'chained', description: 'x', schema: z.object({}) })),
      ...fromAiSdk({ sdk: aiTool({ inputSchema: z.object({}), execute: async () => 1 }) }),
      fromOpenAi({ type: 'function', name: 'openai' }, () => 1),
      fromMcpTool({ name: 'mcp', inputSchema: parameters }, () => empty),
      fromAgentTool({ name: 'agent', description: 'x', parameters, execute: async () => empty }),
      ...fromOpenApi({
        openapi: '3.1.0',
        info: { title: 'x', version: '1' },
        servers: [{ url: 'https://example.org' }],
        paths: { '/a': { get: { operationId: 'getA', responses: {} } } },
      }).tools,
      defineTool({ name: 'core/util.time.now', description: 'x', input: {}, override: true, execute: () => 1 }),
    ],
  })
  onTestFinished(() => hub.close())
  hub.registry.register({ name: 'handled', description: 'x', parameters, handler: () => ({ content: '' }) })
  connectClient(hub, { name: 'editor', tools: [{ function: { name: 'pick', parameters } }] })
  await hub.ready()
  const kinds = Object.fromEntries(hub.list().map(({ name, kind }) => [name, kind]))
  expect(kinds).toMatchObject({
    'core/fs.readText': 'core',
    'core/util.time.now': 'function',
    own: 'function',
    chained: 'langchain',
    sdk: 'ai-sdk',
    openai: 'openai',
    mcp: 'mcp',
    agent: 'agent-tool',
    handled: 'handler',
    'api/getA': 'openapi',
    pick: 'client',
  })
  expect(new Set(hub.list().map(({ kind }) => kind))).not.toContain(undefined)
})
