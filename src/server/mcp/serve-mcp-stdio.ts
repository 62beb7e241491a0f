import { lazyModule } from '../../core/index.ts'
import type { McpStdioOptions, ServedHub } from './options.ts'

const loadConnectStdio = lazyModule(() => import('./stdio/connect-stdio.ts'))

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
