import type { AnyTool, HubOptions, SkillRequest } from '@tool-hub/core'
import { builtinTools } from '@tool-hub/library/builtin-tools'
import { compileVisibility } from '@tool-hub/policy'
import { type FoundTool, listTools, type RegisteredTool, Registry, type ToolListing } from '@tool-hub/runtime/hub'
import { hasMoreTools } from './sources.ts'

/** All tools, and which of them an agent sees. */
export interface Catalogue {
  /** Every tool, sorted by name. */
  readonly tools: readonly RegisteredTool[]
  /** As an agent sees them, in the same order. */
  readonly listing: readonly ToolListing[]
  /** What skills request, loaded or not. */
  readonly requests: readonly SkillRequest[]
  /** By canonical, wire or dialect name; throws with the nearest names when there is none. */
  find(name: string): FoundTool
}

/** What a hub with these options would list. A hub is created only for tools that are not built in, so that the list is fast. */
export async function openCatalogue(options: HubOptions): Promise<Catalogue> {
  const registry = new Registry()
  const { tools, requests } = await contentOf(options)
  for (const tool of tools) registry.register(tool)
  const sees = compileVisibility(options.visibility ?? {})
  return {
    tools: registry.list(),
    listing: listTools(registry, (entry) => sees({ ...entry, name: entry.tool.name })),
    requests,
    find(name) {
      const found = registry.find(name)
      if (found) return found
      throw registry.notFound(name)
    },
  }
}

interface Content {
  readonly tools: readonly AnyTool[]
  readonly requests: readonly SkillRequest[]
}

async function contentOf(options: HubOptions): Promise<Content> {
  if (!(await hasMoreTools(options))) return { tools: builtinTools, requests: options.requests ?? [] }
  const [{ withHubOf }, { allReady }, { watchServers }] = await Promise.all([
    import('./with-hub.ts'),
    import('./sources.ts'),
    import('./sources.ts'),
  ])
  const { options: watched, warnAboutBroken } = await watchServers(options)
  return withHubOf(watched, async (hub) => {
    await allReady(hub)
    warnAboutBroken()
    return { tools: hub.registry.list(), requests: hub.policyLayers().requests ?? [] }
  })
}
