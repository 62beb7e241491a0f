/**
 * Many machines: what the processes of a hub need that share a store. Only what puts a hub or a service together imports it:
 * the entry points, the server and the command line.
 */
export type { ClusterMember, RunPlace } from './membership/cluster-member.ts'
export { connectMachines, type SharedHistory } from './membership/connect.ts'
export {
  migrateDatabase,
  openDatabaseStore,
  openPostgresPlace,
  type PostgresStoreOptions,
  postgresVersion,
} from './postgres/postgres-store.ts'
export { loadSharedCheck } from './records/index.ts'
export type {
  BlobStore,
  ProcessStore,
  RunStore,
  SegmentStore,
  SettingStore,
  WorkerCallStore,
} from './store/types.ts'
export type { RunningWorker, WorkerLogEntry, WorkerOptions, WorkerStates } from './workers/worker-options.ts'
