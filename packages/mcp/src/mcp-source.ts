import { lazyModule, type McpServer, SERVER_NAME, type SourceHost, ToolError, type ToolSource } from '@tool-hub/core'
import type { McpServerStatus, RunningServers } from './running-servers.ts'

const loadRunningServers = lazyModule(() => import('./running-servers.ts'))

/** Options of an MCP source. */
export interface McpSourceOptions {
  /** Where `${env:X}` comes from. Default: the environment of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

/** A source whose servers can be inspected. */
export interface McpSource extends ToolSource {
  /** The state of every server, without waiting. */
  status(): readonly McpServerStatus[]
  /** Accepts the definitions of a server as they were last seen; returns the tools that had changed or are new. */
  acceptDefinitions(server: string): Promise<readonly string[]>
}

/**
 * Offers the tools of MCP servers as tools of a hub, `mcp/<server>.<tool>`, governed like all others. Every server is
 * connected in the background, independently of the others.
 * @example
 * const hub = createToolHub({ sources: [createMcpSource({ files: { command: 'npx', args: ['-y', 'a-server'] } })] })
 */
export function createMcpSource(
  servers: Readonly<Record<string, McpServer>>,
  { env = process.env }: McpSourceOptions = {},
): McpSource {
  for (const name of Object.keys(servers)) assertServerName(name)
  let running: Promise<RunningServers> | undefined
  let started: RunningServers | undefined
  const start = async (host: SourceHost) => {
    const { RunningServers } = await loadRunningServers()
    started = new RunningServers(servers, { host, env })
    return started
  }
  return {
    name: 'mcp',
    async start(host) {
      if (running) throw new ToolError('CONFIG_INVALID', 'These MCP servers are connected to a hub already.')
      running = start(host)
      await running
    },
    async close() {
      const servers = await running
      running = undefined
      started = undefined
      await servers?.close()
    },
    status: () => started?.status() ?? [],
    acceptDefinitions: async (server) => (await running)?.accept(server) ?? [],
  }
}

/** Throws CONFIG_INVALID if a name is not valid for an MCP server. */
export function assertServerName(name: string): void {
  if (SERVER_NAME.test(name)) return
  throw new ToolError('CONFIG_INVALID', `Invalid MCP server name ${JSON.stringify(name.slice(0, 64))}.`, {
    hint: 'Under mcpServers, use letters, digits, _ and -, beginning with a letter, at most 32 characters.',
  })
}
