import type { McpFetchHandler, McpFetchOptions, ServedHub } from './options.ts'

/** The MCP server as a web-standard handler, for an HTTP server of your own; checks Host, Origin and who calls itself. */
export async function createMcpFetchHandler(hub: ServedHub, options: McpFetchOptions = {}): Promise<McpFetchHandler> {
  const { HttpHandler } = await import('./http/http-handler.ts')
  return new HttpHandler(hub, options)
}
