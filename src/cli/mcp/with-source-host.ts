import type { McpServer, SourceHost } from '../../core/index.ts'
import { readCliConfig } from '../hub/read-config.ts'
import { UsageError } from '../usage-error.ts'

/** Lends the doors of a hub that has no tools but the built-in ones, to look at the servers of its config. */
export async function withSourceHost<T>(
  flags: { readonly config?: string },
  use: (host: SourceHost, servers: Readonly<Record<string, McpServer>>) => Promise<T>,
): Promise<T> {
  // Looking at servers is no reason to run the code of plugins.
  const { options } = await readCliConfig({ ...flags, plugins: false })
  const { mcpServers = {}, skills: _skills, sources: _sources, plugins: _plugins, ...rest } = options
  const { withHubOf } = await import('../hub/with-hub.ts')
  return withHubOf(rest, async (hub) => {
    const host = await new Promise<SourceHost>((resolve) => {
      hub.connect({ name: 'tool-hub mcp', start: resolve })
    })
    return use(host, mcpServers)
  })
}

/** The server of this name. */
export function serverNamed(servers: Readonly<Record<string, McpServer>>, name: string): McpServer {
  if (Object.hasOwn(servers, name)) return servers[name]!
  const known = Object.keys(servers)
  throw new UsageError(
    `There is no MCP server ${JSON.stringify(name)} in the config.`,
    known.length > 0 ? `There are: ${known.join(', ')}.` : 'Add one: tool-hub mcp add NAME -- COMMAND.',
  )
}
