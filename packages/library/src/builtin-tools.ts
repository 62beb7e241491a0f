import {
  type CatalogueEntry,
  type CoreTool,
  coreCatalogue,
  coreSchemasOf,
  coreToolLoaders,
  coreTools,
  lazyTools,
  type ToolSchemas,
} from '@tool-hub/runtime/tools'
import { catalogue as featureCatalogue, schemasOf as featureSchemasOf } from './generated/feature-tools.generated.ts'
import { featureToolLoaders } from './generated/tool-loaders/index.ts'

type FeatureTool = Awaited<ReturnType<(typeof featureToolLoaders)[keyof typeof featureToolLoaders]>>

/** A tool that comes with the hub. */
export type BuiltinTool = CoreTool | FeatureTool

/** What is known of the built-in tools without their code, sorted by name. */
export const catalogue: readonly CatalogueEntry[] = [...coreCatalogue, ...featureCatalogue].sort((left, right) =>
  byName(left.tool, right.tool),
)

/** The tools that every hub has, sorted by name, those of features included. */
export const builtinTools: readonly BuiltinTool[] = [
  ...coreTools,
  ...(lazyTools(featureCatalogue, featureSchemasOf, featureToolLoaders) as readonly FeatureTool[]),
].sort(byName)

const ofFeatures = new Set(featureCatalogue.map(({ tool }) => tool.name))

/** Loads all tools that come with the hub, with their code, sorted by name. */
export async function loadBuiltinTools(): Promise<readonly BuiltinTool[]> {
  const loaders = Object.values({ ...coreToolLoaders, ...featureToolLoaders })
  return (await Promise.all(loaders.map((load) => load()))).sort(byName)
}

/** The schemas of a built-in tool, parsed when they are first needed. */
export function schemasOf(name: string): ToolSchemas {
  return ofFeatures.has(name) ? featureSchemasOf(name) : coreSchemasOf(name)
}

function byName(left: { readonly name: string }, right: { readonly name: string }): number {
  return left.name < right.name ? -1 : 1
}
