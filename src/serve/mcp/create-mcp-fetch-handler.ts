import type { Hub } from '../../hub.ts'
import type { McpFetchHandler, McpFetchOptions } from './options.ts'

/** The MCP server as a web-standard handler, for an HTTP server of your own; checks Host, Origin and who calls itself. */
export async function createMcpFetchHandler(hub: Hub, options: McpFetchOptions = {}): Promise<McpFetchHandler> {
  const { HttpHandler } = await import('./http/http-handler.ts')
  return new HttpHandler(hub, options)
}
