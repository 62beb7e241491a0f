/** The store: what outlives a process, in the terms of the domain. What a store in SQL is made of is in `sql/`. */

export type {
  BudgetAccountLimits,
  BudgetOutcome,
  BudgetStore,
  GrantStore,
  HeadStore,
  HeldRun,
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
  StoredRun,
  StoredSignIn,
  StoredToken,
  TokenRotation,
  TokenStore,
  Usage,
  UserTextStore,
} from '../store.ts'
export type { ApprovalBrief, ApprovalStore, NewApproval, StoredAnswer, StoredApproval } from './approvals.ts'
export type {
  CallFilter,
  CallIndex,
  IndexedCall,
  IndexedCaller,
  IndexedRun,
  RunFilter,
} from './call-index.ts'
export {
  type DocumentStore,
  type EventStore,
  type JobQueue,
  type QueuedJob,
  type StoredDocument,
  type StoredEvent,
  watchTopic,
} from './shared.ts'
export type { StoreTests, SuiteExpect, SuiteMatchers, SuiteRunner } from './suite-runner.ts'
