import { featureStores } from '../../packages/library/src/generated/stores/index.ts'
import { storeTables } from '../../packages/runtime/src/store/store-tables.ts'

/** The tables of a store with all features. */
export const ALL_TABLES = storeTables(featureStores)
