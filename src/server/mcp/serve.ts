import { lazyModule } from '../../core/index.ts'
import type { McpFetchHandler, McpFetchOptions, McpHttpOptions, McpStdioOptions, ServedHub } from './options.ts'

const loadListenMcp = lazyModule(() => import('./http/listen-mcp.ts'))

/** A server that listens. */
export interface McpHttpServer {
  /** Where clients connect: `http://127.0.0.1:41234/mcp`. */
  readonly url: string
  /** Takes no more requests, lets calls under way end or stops them, ends every session. The hub stays open. */
  close(): Promise<void>
}

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

/** A server that talks to the one who started this process. */
export interface McpStdioServer {
  /** Resolves when the client is gone and its run is closed. */
  readonly closed: Promise<void>
  /** Ends the connection and stops its calls. */
  close(): Promise<void>
}

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

/** The MCP server as a web-standard handler, for an HTTP server of your own; checks Host, Origin and who calls itself. */
export async function createMcpFetchHandler(hub: ServedHub, options: McpFetchOptions = {}): Promise<McpFetchHandler> {
  const { HttpHandler } = await loadHttpHandler()
  return new HttpHandler(hub, options)
}
