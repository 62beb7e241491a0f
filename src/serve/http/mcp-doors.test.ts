import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type HttpServed, serveHttp } from '../../../test/support/http-served.ts'
import { defineTool } from '../../define.ts'

const whoami = defineTool({
  name: 'whoami',
  description: 'Says which run this is.',
  input: z.strictObject({}),
  output: z.strictObject({ run: z.string() }),
  execute: (_, ctx) => ({ run: ctx.run }),
})

let served: HttpServed
beforeAll(async () => {
  served = await serveHttp({ tools: [whoami] })
})
afterAll(() => served.close())

async function connect(token: string, era: 'legacy' | 'modern') {
  const client = new Client(
    { name: 'test-client', version: '1.0.0' },
    { versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' } },
  )
  const url = new URL('/mcp', served.server.url)
  await client.connect(
    new StreamableHTTPClientTransport(url, { requestInit: { headers: { authorization: `Bearer ${token}` } } }),
  )
  return client
}

describe('MCP', () => {
  it.each(['legacy', 'modern'] as const)(
    'of the %s era lists and calls, each principal in runs of its own',
    async (era) => {
      const [anna, ben] = [
        await served.newToken(`anna-${era}`, ['call']),
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
      expect(json.calls[0]).toMatchObject({ tool: 'whoami', principal: `token:anna-${era}` })
      await Promise.all(clients.map((client) => client.close()))
    },
  )

  it('is for those who may call', async () => {
    await expect(connect(await served.newToken('looker', ['read']), 'modern')).rejects.toThrow()
    expect((await served.ask('POST', '/mcp', undefined, {})).status).toBe(401)
  })
})
