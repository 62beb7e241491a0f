import type { Command } from 'commander'
import type { McpServer } from '../../options.ts'
import { readConfig } from '../hub/read-config.ts'
import { addConfigOption } from '../input/add-options.ts'
import { print, printJson, say } from '../output/print.ts'
import { table } from '../output/table.ts'

/** `mcp list`: the servers of the config. */
export function describeMcpList(command: Command): void {
  addConfigOption(command)
    .summary('List the MCP servers of the config')
    .description('List the MCP servers of the config; none is started. tool-hub mcp test starts them.')
    .action(list)
}

async function list(flags: { readonly config?: string; readonly json?: boolean }): Promise<void> {
  const { options } = await readConfig({ ...flags, plugins: false })
  const { withoutSecrets } = await import('../mcp/without-secrets.ts')
  // Values of the environment and of headers are nobody's to read, nor are secrets elsewhere.
  const servers = Object.entries(options.mcpServers ?? {}).map(
    ([name, server]) => [name, withoutSecrets(name, server, () => '[redacted]').entry as McpServer] as const,
  )
  if (flags.json) return printJson(servers.map(([name, server]) => ({ name, ...shown(server) })))
  if (servers.length === 0) return say('There is no MCP server. Add one: tool-hub mcp add NAME -- COMMAND.')
  await print(table(servers.map(([name, server]) => [name, ...Object.values(shown(server))])))
}

function shown(server: McpServer): { kind: string; where: string; notes: string } {
  const isProgram = 'command' in server
  const notes = [
    server.disabled && 'disabled',
    server.trust && 'trusted',
    isProgram && server.sandbox && 'fenced',
    !isProgram && server.headers && 'headers set',
  ]
  return {
    kind: isProgram ? 'program' : 'service',
    where: isProgram ? [server.command, ...(server.args ?? [])].join(' ') : server.url,
    notes: notes.filter(Boolean).join(', '),
  }
}
