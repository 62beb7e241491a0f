import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { z } from 'zod'

/**
 * An MCP client whose server, in the same process, has the trivial tool. The server checks input and output. The client
 * has not listed the tools, which spares it a check of its own: the peer at its quickest.
 */
export async function connectMcp() {
  const server = new McpServer({ name: 'bench', version: '1.0.0' })
  const schemas = {
    inputSchema: z.strictObject({ a: z.int(), b: z.int() }),
    outputSchema: z.strictObject({ sum: z.int() }),
  }
  server.registerTool('add', { description: 'Add two whole numbers.', ...schemas }, ({ a, b }) => ({
    content: [{ type: 'text', text: JSON.stringify({ sum: a + b }) }],
    structuredContent: { sum: a + b },
  }))
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair()
  const client = new Client({ name: 'bench', version: '1.0.0' })
  await Promise.all([server.connect(serverSide), client.connect(clientSide)])
  return client
}
