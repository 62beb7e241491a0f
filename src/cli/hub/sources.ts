import { FEATURES, type FeatureConfig, type HubOptions } from '../../core/index.ts'
import { featureConfigs } from '../../features/generated/config/index.ts'
import type { Hub } from '../../hub/index.ts'
import { escapeLine } from '../../lib/index.ts'
import type { McpServerStatus } from '../../sources/mcp/index.ts'
import { ownCommand } from '../invocation.ts'
import { say, style } from '../output/print.ts'

/** Options with the status of their MCP servers while a hub uses them. */
export interface WatchedServers {
  readonly options: HubOptions
  readonly status: () => readonly McpServerStatus[]
  /** Warns once about each server that is down, because a list without its tools would look complete. */
  readonly warnAboutBroken: () => void
}

const warned = new Set<string>()

/** Replaces the MCP servers of the options by a source whose status can be read. */
export async function watchServers(options: HubOptions): Promise<WatchedServers> {
  const { mcpServers, ...others } = options
  if (!mcpServers || Object.keys(mcpServers).length === 0)
    return { options, status: () => [], warnAboutBroken: () => {} }
  const { createMcpSource } = await import('../../sources/mcp/index.ts')
  const source = createMcpSource(mcpServers)
  const status = () => source.status()
  return {
    options: { ...others, sources: [...(options.sources ?? []), source] },
    status,
    warnAboutBroken: () => status().forEach(warnOnce),
  }
}

function warnOnce({ name, problem }: McpServerStatus): void {
  if (!problem || warned.has(name)) return
  warned.add(name)
  const what = escapeLine(`MCP server ${name}: ${problem.message.replace(/\.$/, '')}`)
  say(`${style('yellow', 'warning:', process.stderr)} ${what}; ${ownCommand()} mcp test ${name}`)
}

const MAX_MS = 30_000

/** Waits until every source has registered its tools or failed, at most 30 s. */
export async function allReady(hub: Pick<Hub, 'ready'>, maxMs = MAX_MS): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, maxMs)
  })
  await Promise.race([hub.ready({ all: true }), over]).finally(() => clearTimeout(timer))
}

/** Whether a hub with these options has other tools than exactly the built-in ones. */
export function hasMoreTools(options: HubOptions): boolean {
  const { tools, plugins, sources, mcpServers, skills } = options
  const isLess = FEATURES.some((name) => {
    const { turnsToolsOff }: FeatureConfig = featureConfigs[name]
    return turnsToolsOff?.(options[name] ?? {}) === true
  })
  if (isLess) return true
  return [tools, plugins, sources, skills, Object.keys(mcpServers ?? {})].some((list) => (list?.length ?? 0) > 0)
}
