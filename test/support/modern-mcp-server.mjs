/** An MCP server of the protocol of 2026-07-28 on standard input and output, for tests. */
import { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'

let hasMore = false
let current

serveStdio(() => {
  const server = new McpServer({ name: 'modern', version: '1' }, { capabilities: { tools: { listChanged: true } } })
  server.registerTool('echo', { inputSchema: z.object({ message: z.string() }) }, ({ message }) => text(message))
  server.registerTool('grow', { inputSchema: z.object({}) }, () => {
    if (!hasMore) current.registerTool('more', { inputSchema: z.object({}) }, () => text('more'))
    hasMore = true
    return text('grown')
  })
  current = server
  return server
})

function text(value) {
  return { content: [{ type: 'text', text: value }] }
}
