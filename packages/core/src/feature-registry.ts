import type { FEATURES } from './features.generated.ts'

/** A feature by name: `memory`, `sessions`, … */
export type FeatureName = (typeof FEATURES)[number]

/** What a call uses of each feature, as `ctx.<name>`. Every feature adds its own with `declare module`. */
// biome-ignore lint/suspicious/noEmptyInterface: features add to it
export interface FeatureHandles {}

/** What the owner of a hub uses of each feature, as `hub.<name>`. Every feature adds its own with `declare module`. */
// biome-ignore lint/suspicious/noEmptyInterface: features add to it
export interface FeatureServices {}

/** The options of each feature, in the options of a hub. Every feature adds its own with `declare module`. */
// biome-ignore lint/suspicious/noEmptyInterface: features add to it
export interface FeatureOptions {}

/** Returns the options of a feature by its name, also of one that this package does not know. */
export function optionsOfFeature(options: FeatureOptions, name: FeatureName): object {
  return (options as Partial<Record<FeatureName, object>>)[name] ?? {}
}

/** What each feature keeps in the store. Every feature adds its own with `declare module`. */
// biome-ignore lint/suspicious/noEmptyInterface: features add to it
export interface FeatureStores {}
