import { afterEach, expect, it, vi } from 'vitest'
import { openCatalogue } from './catalogue.ts'

afterEach(() => vi.restoreAllMocks())

it('says once which server is missing from a list', async () => {
  const said: string[] = []
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => Boolean(said.push(String(text))))
  const mcpServers = { crash: { command: 'no-such-program-here' } }
  for (let count = 0; count < 2; count++) await openCatalogue({ mcpServers, runs: false })
  const told = said.filter((text) => text.includes('MCP server crash'))
  expect(told).toHaveLength(1)
  expect(told[0]).toMatch(/^warning: MCP server crash: .*; .* mcp test crash\n$/)
})
