import type { HubOptions } from '../../core/index.ts'
import { escapeLine } from '../../lib/index.ts'
import type { McpServerStatus } from '../../sources/mcp/index.ts'
import { say } from '../output/print.ts'
import { style } from '../output/terminal.ts'
import { ownCommand } from '../own-command.ts'

/** Options whose MCP servers can be looked at while a hub has them. */
export interface WatchedServers {
  readonly options: HubOptions
  readonly status: () => readonly McpServerStatus[]
  /** Says which are down, once each: a list without their tools looks like all there is. */
  readonly tellBroken: () => void
}

const told = new Set<string>()

/** Makes the servers of these options a source at hand. */
export async function watchServers(options: HubOptions): Promise<WatchedServers> {
  const { mcpServers, ...others } = options
  if (!mcpServers || Object.keys(mcpServers).length === 0) return { options, status: () => [], tellBroken: () => {} }
  const { createMcpSource } = await import('../../sources/mcp/index.ts')
  const source = createMcpSource(mcpServers)
  const status = () => source.status()
  return {
    options: { ...others, sources: [...(options.sources ?? []), source] },
    status,
    tellBroken: () => status().forEach(tell),
  }
}

function tell({ name, problem }: McpServerStatus): void {
  if (!problem || told.has(name)) return
  told.add(name)
  const what = escapeLine(`MCP server ${name}: ${problem.message.replace(/\.$/, '')}`)
  say(`${style('yellow', 'warning:', process.stderr)} ${what}; ${ownCommand()} mcp test ${name}`)
}
