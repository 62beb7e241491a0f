import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Scope } from '@tool-hub/core/protocol/shapes'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { type HttpServed, serveHttp } from '../../../../test/support/http-served.ts'
import { systemClock } from '../../../core/src/context.ts'
import { defineTool } from '../../../core/src/tool.ts'
import { McpEndpoints } from './mcp-endpoints.ts'

const whoami = defineTool({
  name: 'whoami',
  description: 'Says which run this is.',
  input: z.strictObject({}),
  output: z.strictObject({ run: z.string() }),
  execute: (_, ctx) => ({ run: ctx.run }),
})

const post = defineTool({
  name: 'post',
  description: 'Posts something.',
  input: z.strictObject({ text: z.string() }),
  capabilities: ['send'],
  execute: ({ text }) => text,
})

const order = defineTool({
  name: 'order',
  description: 'Orders lunch.',
  input: z.strictObject({}),
  execute: async (_, ctx) => (await ctx.ask({ question: 'What to eat?' })).answer,
})

let served: HttpServed
beforeAll(async () => {
  served = await serveHttp({
    tools: [whoami, post, order],
    policy: [{ ask: 'send' }],
    approve: undefined,
    approvals: { inbox: true, timeoutMs: 60_000, elicitation: true },
  })
})
afterAll(() => served.close())

type Content = Record<string, string>

/** A client; with `fill` it shows forms, and fills them in by itself. */
async function connect(
  token: string,
  era: 'legacy' | 'modern',
  { fill, fetch }: { fill?: (message: string) => Content; fetch?: typeof globalThis.fetch } = {},
) {
  const client = new Client(
    { name: 'test-client', version: '1.0.0' },
    {
      versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' },
      capabilities: fill ? { elicitation: { form: {} } } : {},
    },
  )
  if (fill)
    client.setRequestHandler('elicitation/create', ({ params }) => ({
      action: 'accept',
      content: fill(params.message),
    }))
  const url = new URL('/mcp', served.server.url)
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit, ...(fetch && { fetch }) }))
  return client
}

function textOf(result: object): string {
  return (result as { content: { text: string }[] }).content.map(({ text }) => text).join('\n')
}

describe('MCP', () => {
  it.each(['legacy', 'modern'] as const)(
    'of the %s era lists and calls, each principal in runs of its own',
    async (era) => {
      const [anna, ben] = [
        await served.newToken(`安娜-${era}`, ['call']),
        await served.newToken(`ben-${era}`, ['call']),
      ]
      const clients = [await connect(anna, era), await connect(ben, era)]
      const runs: string[] = []
      for (const client of clients) {
        const { tools } = await client.listTools()
        expect(tools.map(({ name }) => name)).toContain('whoami')
        const { structuredContent } = await client.callTool({ name: 'whoami', arguments: {} })
        runs.push((structuredContent as { run: string }).run)
      }
      expect(runs[0]).not.toBe(runs[1])
      const reader = await served.newToken(`reader-${era}`, ['read'])
      const { json } = await served.ask('GET', `/v1/calls?run=${runs[0]}`, reader)
      expect(json.calls[0]).toMatchObject({ tool: 'whoami', principal: `token:安娜-${era}` })
      await Promise.all(clients.map((client) => client.close()))
    },
  )

  it.each(['legacy', 'modern'] as const)(
    'of the %s era lets nobody approve its own call by a form that its client fills in',
    async (era) => {
      const agent = await served.newToken(`selfish-${era}`, ['call', 'approve'])
      const boss = await served.newToken(`boss-${era}`, ['approve', 'read'])
      const shown: string[] = []
      const fill = (message: string) => {
        shown.push(message)
        return { decision: 'allow', answer: 'soup' }
      }
      const client = await connect(agent, era, { fill })
      const result = client.callTool({ name: 'post', arguments: { text: era } })
      const waiting = async () => (await served.ask('GET', '/v1/approvals', boss)).json.approvals
      await expect.poll(async () => (await waiting()).length).toBe(1)
      const [{ id, caller }] = await waiting()
      expect(caller).toBe(`token:selfish-${era}`)
      await served.ask('POST', `/v1/approvals/${id}`, boss, { decision: 'deny', reason: 'no' })
      expect(textOf(await result)).toMatch(/^APPROVAL_DENIED/)
      expect(shown).toEqual([])
      // What a tool wants to know is for the person behind the agent.
      expect(textOf(await client.callTool({ name: 'order', arguments: {} }))).toBe('soup')
      expect(shown).toHaveLength(1)
      const { json } = await served.ask('GET', '/v1/questions?state=all', boss)
      expect(json.questions[0].answered).toMatchObject({ via: 'mcp', answer: 'soup' })
      await client.close()
    },
  )

  it('asks only those who may answer, no matter who of the same name came first', async () => {
    const clock = systemClock
    const doors = new McpEndpoints({ maxBodyEntries: 50_000, maxBodyBytes: 1_000_000, clock, onError: () => {} })
    onTestFinished(() => doors.close({ graceMs: 0 }))
    const hub = served.hub.as({ name: 'user:cleo' })
    const through = (...scopes: Scope[]): typeof fetch => {
      const caller = { name: 'user:cleo', hub, scopes: new Set(scopes) }
      return (url, init) => {
        const request = new Request(url as URL, init)
        request.headers.set('host', request.url.split('/')[2]!)
        return doors.serve(caller, request, new EventEmitter() as unknown as ServerResponse)
      }
    }
    let shown = 0
    const fill = () => ({ answer: `soup ${++shown}` })
    const first = await connect('', 'modern', { fill, fetch: through('call', 'approve') })
    expect(textOf(await first.callTool({ name: 'order', arguments: {} }))).toBe('soup 1')
    const later = await connect('', 'modern', { fill, fetch: through('call') })
    const asked = later.callTool({ name: 'order', arguments: {} })
    await expect.poll(() => served.hub.questions.list()).toHaveLength(1)
    await served.hub.questions.reply(served.hub.questions.list()[0]!.id, 'salad')
    expect(textOf(await asked)).toBe('salad')
    expect(shown).toBe(1)
  })

  it('is for those who may call', async () => {
    await expect(connect(await served.newToken('looker', ['read']), 'modern')).rejects.toThrow()
    expect((await served.ask('POST', '/mcp', undefined, {})).status).toBe(401)
  })
})
