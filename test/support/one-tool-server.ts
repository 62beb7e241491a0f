import { onTestFinished } from 'vitest'
import { startJsonServer } from './json-server.ts'

const ABOUT = {
  protocolVersion: '2025-06-18',
  capabilities: { tools: {} },
  serverInfo: { name: 's', version: '1' },
}

/** An MCP server over HTTP until the end of the test; its only tool can be changed between two requests. */
export async function startOneToolServer() {
  const tool = { name: 'go', description: 'Reads.', inputSchema: { type: 'object' } }
  const results = new Map<string, object>([
    ['initialize', ABOUT],
    ['tools/list', { tools: [tool] }],
  ])
  const server = await startJsonServer((_, { id, method }: { id?: number; method: string }) => {
    if (id === undefined) return { status: 202, json: {} }
    const result = results.get(method)
    return { json: { jsonrpc: '2.0', id, ...(result ? { result } : { error: { code: -32601, message: 'no' } }) } }
  })
  onTestFinished(() => server.close())
  return { url: `${server.url}/mcp`, tool }
}
