import type { AnyTool } from '../define.ts'
import { listTools, type ToolListing } from '../hub/list-tools.ts'
import type { HubOptions } from '../options.ts'
import { compileVisibility } from '../policy/visibility.ts'
import { Registry } from '../steps/registry.ts'
import { builtinTools } from '../tools/index.generated.ts'

/** The tools there are, and which of them an agent sees. */
export interface Catalogue {
  list(): ToolListing[]
  get(name: string): AnyTool | undefined
}

/** What a hub with these options would list. Without plugins none is built for it: a list must be there at once. */
export async function openCatalogue(options: HubOptions): Promise<Catalogue> {
  if (options.plugins) return hubCatalogue(options)
  const registry = new Registry()
  for (const tool of builtinTools) registry.register(tool, 'builtin')
  const sees = compileVisibility(options.visibility ?? {})
  const list = () => listTools(registry, (entry) => sees({ ...entry, name: entry.tool.name }))
  return { list, get: (name) => registry.get(name) }
}

async function hubCatalogue(options: HubOptions): Promise<Catalogue> {
  const { startHub } = await import('./open-hub.ts')
  const hub = await startHub(options)
  return { list: () => hub.list({ hidden: true }), get: (name) => hub.registry.get(name) }
}
