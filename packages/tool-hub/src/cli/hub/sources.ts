import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { featureConfigs } from '@tool-hub/config/generated'
import { FEATURES, type FeatureConfig, type FeatureDefinition, type HubOptions } from '@tool-hub/core'
import { escapeLine } from '@tool-hub/core/lib'
import type { McpServerStatus } from '@tool-hub/mcp'
import type { Hub } from '@tool-hub/runtime/hub'
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
  const { createMcpSource } = await import('@tool-hub/mcp')
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
export async function hasMoreTools(options: HubOptions): Promise<boolean> {
  const { tools, plugins, sources, mcpServers, skills } = options
  const isLess = FEATURES.some((name) => {
    const { turnsToolsOff }: FeatureConfig = featureConfigs[name]
    return turnsToolsOff?.(options[name] ?? {}) === true
  })
  if (isLess) return true
  const lists = [tools, plugins, sources, skills, Object.keys(mcpServers ?? {})]
  return lists.some((list) => (list?.length ?? 0) > 0) || hasStoredTools(options)
}

/** Whether features keep tools in the data folder. */
async function hasStoredTools(options: HubOptions): Promise<boolean> {
  if (!options.database && !existsSync(join(resolve(options.data ?? '.tool-hub'), 'store.db'))) return false
  const [{ openDataStore }, { features }] = await Promise.all([
    import('./data-store.ts'),
    import('@tool-hub/library/generated/list'),
  ])
  const store = openDataStore(options)
  try {
    for (const { name, storedTools } of features as readonly FeatureDefinition[])
      if (storedTools && (await storedTools.read(options[name] ?? {}, store)).version !== '') return true
    return false
  } catch {
    // A hub says what is wrong with the store.
    return true
  } finally {
    await store.close()
  }
}
