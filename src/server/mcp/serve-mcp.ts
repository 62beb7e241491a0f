import { lazyModule } from '../../core/index.ts'
import type { McpHttpOptions, ServedHub } from './options.ts'

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
