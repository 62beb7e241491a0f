import { lazyModule } from '@tool-hub/core'
import type {
  McpFetchHandler,
  McpFetchOptions,
  McpHttpOptions,
  McpHttpServer,
  McpStdioOptions,
  McpStdioServer,
  ServedHub,
} from './options.ts'

const loadListenMcp = lazyModule(() => import('./http/listen-mcp.ts'))

/**
 * Serves the tools of a hub as an MCP server over streamable HTTP, to clients of both protocol eras.
 * @example
 * const server = await serveMcp(hub, { port: 3001 })
 * console.log(server.url)
 */
export async function serveMcp(hub: ServedHub, options: McpHttpOptions = {}): Promise<McpHttpServer> {
  const { listenMcp } = await loadListenMcp()
  return listenMcp(hub, options)
}

const loadConnectStdio = lazyModule(() => import('./connect-stdio.ts'))

/**
 * Serves the tools of a hub as an MCP server on standard input and output, to a client of either protocol era. Nothing
 * but MCP is written to stdout.
 * @example
 * await (await serveMcpStdio(hub)).closed
 */
export async function serveMcpStdio(hub: ServedHub, options: McpStdioOptions = {}): Promise<McpStdioServer> {
  const { connectStdio } = await loadConnectStdio()
  return connectStdio(hub, options)
}

const loadHttpHandler = lazyModule(() => import('./http/http-handler.ts'))

/**
 * Creates the MCP server as a web-standard handler for your own HTTP server. It checks Host, Origin and the caller
 * itself.
 */
export async function createMcpFetchHandler(hub: ServedHub, options: McpFetchOptions = {}): Promise<McpFetchHandler> {
  const { HttpHandler } = await loadHttpHandler()
  return new HttpHandler(hub, options)
}
