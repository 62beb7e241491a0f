/** The store: what outlives a process, in the terms of the domain. What a store in SQL is made of is in `sql/`. */

export type {
  BudgetAccountLimits,
  BudgetOutcome,
  BudgetStore,
  GrantStore,
  HeadStore,
  Job,
  JobStore,
  KeyState,
  KeyStore,
  PoolUse,
  RateBucket,
  RateOutcome,
  RateStore,
  SignInStore,
  SlotStore,
  Store,
  StoredGrant,
  StoredHead,
  StoredSignIn,
  StoredToken,
  TokenRotation,
  TokenStore,
  Usage,
  UserTextStore,
} from '../store.ts'
export type { ApprovalBrief, ApprovalStore, NewApproval, StoredAnswer, StoredApproval } from './approvals.ts'
export {
  type CallFilter,
  type CallIndex,
  countsAsFailure,
  type IndexedCall,
  type IndexedCaller,
  type IndexedRun,
  isDenial,
  isFailure,
  type RunFilter,
} from './call-index.ts'
export type { DocumentStore, StoredDocument } from './documents.ts'
export { type EventStore, type StoredEvent, watchTopic } from './events.ts'
export type {
  BlobStore,
  HeldRun,
  MovedSegments,
  NewBlob,
  NewProcess,
  NewSegment,
  ProcessStore,
  RunLease,
  RunStore,
  SegmentOutcome,
  SegmentStore,
  SettingStore,
  SharedHead,
  StoredBlob,
  StoredProcess,
  StoredRun,
  StoredSegment,
} from './processes.ts'
export type { StoreTests, SuiteExpect, SuiteMatchers, SuiteRunner } from './suite-runner.ts'
export type {
  EndedWorkerCall,
  JobQueue,
  NewWorkerCall,
  QueuedJob,
  StoredWorkerCall,
  WorkerCallStore,
  WorkerQueueState,
} from './worker-calls.ts'
