import type { FeatureStores } from '../feature.ts'
import type { Repository, Work } from './driver.ts'

/** What a feature keeps in the store: `store.ts` of its folder exports this as `<name>Store`. */
export interface FeatureStore<Parts extends Partial<FeatureStores> = Partial<FeatureStores>> {
  /** Its repositories, by their keys in the store. */
  readonly repositories: { readonly [Name in keyof Parts]: Repository<Parts[Name]> }
  /**
   * Its tables: SQL by the version of the database that it makes. A database has one version for all features; a change
   * takes the next one.
   */
  readonly migrations: Readonly<Record<number, string>>
  /** The methods that resolve only when what they wrote survives a loss of power. */
  readonly durable: { readonly [Name in keyof Parts]?: readonly (keyof Parts[Name] & string)[] }
  /** How many rows a store in memory holds of each table. */
  readonly bounds: { readonly [Name in keyof Parts]?: readonly TableBound[] }
  /** Deletes what has expired. Default: nothing does. */
  readonly sweep?: (now: number) => Work<void>
}

/** A table that holds a limited number of rows. */
export interface TableBound {
  readonly table: string
  /** The methods that add rows. */
  readonly methods: readonly string[]
  /** What the rows are, for the error. */
  readonly what: string
  /** Selects rows that may be evicted, as `key`, the first ones first. Default: none may. */
  readonly evict?: { readonly column: string; readonly select: string }
}

/** The same for any feature. */
export interface StoreOfFeature {
  readonly repositories: Readonly<Record<string, object>>
  readonly migrations: Readonly<Record<number, string>>
  readonly durable: Readonly<Record<string, readonly string[] | undefined>>
  readonly bounds: Readonly<Record<string, readonly TableBound[] | undefined>>
  readonly sweep?: (now: number) => Work<void>
}

/** Defines what a feature keeps in the store. */
export function defineStore<Parts extends Partial<FeatureStores>>(store: FeatureStore<Parts>): FeatureStore<Parts> {
  return store
}
