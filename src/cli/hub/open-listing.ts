import type { ToolListing } from '../../hub/list-tools.ts'
import type { HubOptions } from '../../options.ts'
import { compileVisibility } from '../../policy/visibility.ts'
import { builtinFacts } from '../../tools/facts.generated.ts'

/** A tool as `list` shows it, and the groups it is in. */
export interface Listed {
  readonly listing: ToolListing
  readonly groups: readonly string[]
}

/** What an agent would see, sorted by name. Only plugins need their code for that: a list must be there at once. */
export async function openListing(options: HubOptions): Promise<Listed[]> {
  if (options.plugins) return listCatalogue(options)
  const sees = compileVisibility(options.visibility ?? {})
  return builtinFacts.map(({ names, groups, ...facts }) => {
    const { name, group } = facts
    return { listing: { ...facts, ...sees({ name, names, group }) }, groups }
  })
}

async function listCatalogue(options: HubOptions): Promise<Listed[]> {
  const { openCatalogue } = await import('./catalogue.ts')
  const { tools, listing } = await openCatalogue(options)
  return tools.map(({ groups }, index) => ({ listing: listing[index]!, groups }))
}
