import { lazyModule } from '../../core/index.ts'
import type { McpFetchHandler, McpFetchOptions, ServedHub } from './options.ts'

const loadHttpHandler = lazyModule(() => import('./http/http-handler.ts'))

/** The MCP server as a web-standard handler, for an HTTP server of your own; checks Host, Origin and who calls itself. */
export async function createMcpFetchHandler(hub: ServedHub, options: McpFetchOptions = {}): Promise<McpFetchHandler> {
  const { HttpHandler } = await loadHttpHandler()
  return new HttpHandler(hub, options)
}
