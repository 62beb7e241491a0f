import type { HubOptions } from '../../core/index.ts'
import type { Hub } from '../../hub/index.ts'
import { escapeLine } from '../../lib/index.ts'
import type { McpServerStatus } from '../../sources/mcp/index.ts'
import { ownCommand } from '../invocation.ts'
import { say, style } from '../output/print.ts'

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

const MAX_MS = 30_000

/** Waits until every source has brought its tools or failed, but not for ever. */
export async function allReady(hub: Pick<Hub, 'ready'>, maxMs = MAX_MS): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, maxMs)
  })
  await Promise.race([hub.ready({ all: true }), over]).finally(() => clearTimeout(timer))
}

/** Whether there are other tools than the built-in ones, all of them. */
export function hasMoreTools({ tools, plugins, sources, mcpServers, skills, memory }: HubOptions): boolean {
  if (memory?.enabled === false || memory?.writeMode === 'disabled') return true
  return [tools, plugins, sources, skills, Object.keys(mcpServers ?? {})].some((list) => (list?.length ?? 0) > 0)
}
