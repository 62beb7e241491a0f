import type { ToolListing } from '../../hub/list-tools.ts'
import { toWireName } from '../../names.ts'
import type { HubOptions } from '../../options.ts'
import { compileVisibility } from '../../policy/visibility.ts'
import { builtinFacts } from '../../tools/facts.generated.ts'
import { hasMoreTools } from './has-more-tools.ts'

/** A tool as `list` shows it, the names it has in dialects, and the groups it is in. */
export interface Listed {
  readonly listing: ToolListing
  readonly dialectNames: readonly string[]
  readonly groups: readonly string[]
}

/** What an agent would see, sorted by name. Only tools from elsewhere need their code for that: a list must be there at once. */
export async function openListing(options: HubOptions): Promise<Listed[]> {
  if (hasMoreTools(options)) return listCatalogue(options)
  const sees = compileVisibility(options.visibility ?? {})
  return builtinFacts.map(({ names, groups, ...facts }) => {
    const { name, group } = facts
    return { listing: { ...facts, ...sees({ name, names, group }) }, dialectNames: dialectNamesOf(name, names), groups }
  })
}

async function listCatalogue(options: HubOptions): Promise<Listed[]> {
  const { openCatalogue } = await import('./catalogue.ts')
  const { tools, listing } = await openCatalogue(options)
  return tools.map(({ tool, names, groups }, index) => {
    return { listing: listing[index]!, dialectNames: dialectNamesOf(tool.name, names), groups }
  })
}

function dialectNamesOf(name: string, names: readonly string[]): string[] {
  return names.filter((each) => each !== name && each !== toWireName(name))
}
