/** The store: what outlives a process. `Driver` is what a database must provide; the repositories in `sql/` use it. */

export type { Bindable, Driver, Queries, SqlValue } from '../core/sql/index.ts'
export { type BackgroundProcess, BackgroundProcesses } from './background-processes.ts'
export { type CopyPlace, type CopyReport, copyTables } from './copy-store.ts'
export { DocumentState } from './document-state.ts'
export { createMemoryStore, type MemoryStoreOptions } from './in-process.ts'
export { JsonState, type JsonStateOptions, type State } from './json-state.ts'
export { SCHEMA_VERSION } from './postgres/schema.ts'
export { migratePostgres, openPostgresStore, openStoreOf, type PostgresStoreOptions } from './postgres.ts'
export { createRunCache, createSeenFiles } from './run-cache.ts'
export { SealedFile, sealForMachines } from './sealed-file.ts'
export { acceptStore, isOlderStore } from './sqlite/durability.ts'
export { type OpenStoreOptions, openStore } from './sqlite.ts'
export {
  migrateStore,
  openNewFile,
  openSource,
  openTarget,
  storePlace,
  storeVersion,
} from './store-places.ts'
export { UntrustedFiles, type VisiblePaths } from './untrusted-files.ts'
export { isAtOrBelow, timeBefore } from './write-periods.ts'
