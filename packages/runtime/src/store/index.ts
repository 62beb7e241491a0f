/** The store: what outlives a process. `Driver` is what a database must provide; the repositories in `sql/` use it. */

export type { Bindable, Driver, Queries, SqlValue } from '@tool-hub/core/sql'
export { type BackgroundProcess, BackgroundProcesses } from './background-processes.ts'
export { type CopyPlace, type CopyReport, copyRows, type StoreCopyOptions } from './copy-store.ts'
export { sealDocument, unsealFile } from './document-seal.ts'
export { DocumentState, readOldState, removeOldState, type State } from './document-state.ts'
export { createInProcessStore, type MemoryStoreOptions } from './in-process.ts'
export { createRunCache, createSeenFiles } from './run-cache.ts'
export { acceptStore, isOlderStore, markLostStore } from './sqlite/durability.ts'
export { type OpenStoreOptions, openFileStore } from './sqlite.ts'
export {
  createCopyFile,
  fileStoreVersion,
  migrateFileStore,
  openCopySource,
  openCopyTarget,
  parseDatabaseUrl,
  type StoreOptions,
  type StoreVersion,
  storePlace,
} from './store-places.ts'
export { type FeatureTables, storeTables } from './store-tables.ts'
export { type FileLabel, UntrustedFiles, type VisiblePaths } from './untrusted-files.ts'
export { isAtOrBelow, timeBefore } from './write-periods.ts'
