import type { FeatureStores } from './feature-registry.ts'
import type { Awaitable } from './lib/index.ts'
import type { BudgetLimits } from './limits.ts'
import type { ApprovalStore } from './store/approvals.ts'
import type { CallIndex } from './store/call-index.ts'
import type { DocumentStore, EventStore, JobQueue } from './store/shared.ts'

export type { ApprovalBrief, ApprovalStore, NewApproval, StoredAnswer, StoredApproval } from './store/approvals.ts'
export type {
  CallFilter,
  CallIndex,
  IndexBatch,
  IndexedCall,
  IndexedCaller,
  IndexedRun,
  RateSlice,
  RunFilter,
} from './store/call-index.ts'

/**
 * What outlives a process, in the terms of the domain. Every method is atomic and safe to use from several processes;
 * times are milliseconds since 1970 and come from the clock of the caller. `openStore` keeps it in one file,
 * `createMemoryStore` in this process. `storeSuite` from `tool-hub/testing` tests an implementation.
 */
export interface Store extends FeatureStores {
  /** Who can use it. */
  readonly location: StoreLocation
  /** How many connections to its database it uses, where it has several; `undefined` before the first. */
  readonly poolUse?: () => PoolUse | undefined
  /** Idempotency keys and their recorded results. */
  readonly keys: KeyStore
  /** The usage of runs, sessions, tools and principals. */
  readonly budgets: BudgetStore
  /** Token buckets of rate limits. */
  readonly rates: RateStore
  /** Approval requests and questions that wait for a person. */
  readonly approvals: ApprovalStore
  /** Answers of people that apply to later calls. */
  readonly grants: GrantStore
  /** API tokens, by the hash of their secret. */
  readonly tokens: TokenStore
  /** Sign-ins of the console, by the hash of their cookie. */
  readonly signIns: SignInStore
  /** Work that is repeated until it succeeds, such as webhooks. */
  readonly jobs: JobStore
  /** Leases on things that only one process may do at a time. */
  readonly slots: SlotStore
  /** The index over the records of all runs; it can be rebuilt. */
  readonly calls: CallIndex
  /** The heads of run records, by which a truncated record is detected. */
  readonly heads: HeadStore
  /** The user's own words, by run. */
  readonly userTexts: UserTextStore
  /** Events between the processes that share the store. */
  readonly events: EventStore
  /** Small documents that processes on several machines change, such as the sign-ins to MCP servers. */
  readonly documents: DocumentStore
  /** Opens the queue that delivers calls to workers, once; absent if the store cannot deliver any. It is closed with the store. */
  readonly openQueue?: () => Promise<JobQueue>
  /** Writes something and removes it again; rejects if that fails, or if damage was found now or before. */
  check(): Promise<void>
  /** Copies the whole store to a file that must not exist, while others use it. */
  backup(path: string): Promise<void>
  /** Deletes what has expired; to be called periodically. */
  sweep(now: number): Awaitable<void>
  /** Writes what is buffered and closes the store; no other method may be called afterwards. */
  close(): Promise<void>
}

/**
 * Where a store is: in its process and gone with it, in a folder for the processes of one machine, or on the network, where
 * processes of other machines use it, too.
 */
export type StoreLocation = 'process' | 'network' | { readonly folder: string }

/** A run with the lease under which something was done for it: after the run has moved, no write for it succeeds. */
export interface HeldRun {
  /** Id of the run. */
  readonly run: string
  /** Id of the process that has leased it. */
  readonly owner: string
  /** Counts the owners of the run. */
  readonly epoch: number
}

/** The state of a run. */
export interface StoredRun {
  /** Id of the run. */
  readonly run: string
  /** Principal that the run belongs to; absent for a run of the hub's owner. */
  readonly principal?: string
  /** The process that has leased it; absent if it is free. */
  readonly owner?: string
  /** How often it was leased to another process. */
  readonly epoch: number
  /** When it was leased last, by the clock of the database. */
  readonly leasedAt?: number
  /** What has tainted the run; empty if it is not tainted. */
  readonly taintedBy: readonly string[]
  /** Whether a taint was cleared: what the run kept before may be from outside. */
  readonly wasCleared: boolean
}

/** Idempotency keys: which process executes the call of a key, and the result. */
export interface KeyStore {
  /** The state of a key; `undefined` if nobody has claimed it. */
  look(key: string): Awaitable<KeyState | undefined>
  /** Claims the key before the execution; returns its state if another owner holds it. An expired key is free. */
  claim(key: string, claim: { argsHash: string; owner: string; now: number }): Awaitable<KeyState | undefined>
  /**
   * Keeps the result of the owner's execution; without `result`, and if `held` is no longer the lease of its run, only that
   * it happened.
   */
  finish(key: string, end: { owner: string; result?: string; expiresAt: number; held?: HeldRun }): Awaitable<void>
  /** Frees a key whose call was not executed. */
  release(key: string, owner: string): Awaitable<void>
}

/** The state of a claimed key. If the owner of a running one has ended, whether its call had an effect is unknown. */
export interface KeyState {
  /** SHA-256 of the arguments; the same key with other arguments is a `CONFLICT`. */
  readonly argsHash: string
  /** Whether the execution has ended. */
  readonly state: 'running' | 'finished'
  /** The process that executes or executed the call. */
  readonly owner: string
  /** JSON, if it was kept. */
  readonly result?: string
  /** When a finished key expires. */
  readonly expiresAt?: number
}

/** Accounts that count usage: of a run, a session, a day of a principal. */
export interface BudgetStore {
  /** Counts one call and its cost in all accounts, or in none if one of them is used up: that one is returned. */
  reserve(accounts: readonly BudgetAccountLimits[], cost: number): Awaitable<BudgetOutcome>
  /** Adds what a call used, and returns the usage of each account. */
  settle(accounts: readonly string[], used: { wallMs: number; bytes: number }): Awaitable<readonly Usage[]>
  /** Reverses the reservation of a call that never ran. */
  release(accounts: readonly string[], cost: number): Awaitable<void>
  /** The usage of an account; zeros for an unknown one. */
  used(account: string): Awaitable<Usage>
  /** Removes an account, so that it starts at zero again. */
  forget(account: string): Awaitable<void>
}

/** An account with its limits, and until when it is kept. */
export interface BudgetAccountLimits {
  /** Name of the account, such as `run:<id>`. */
  readonly account: string
  /** Its limits; an absent one does not limit. */
  readonly limits: BudgetLimits
  /** When the account starts at zero again. Default: never. */
  readonly expiresAt?: number
}

/** The usage of an account. */
export interface Usage {
  /** Calls that were reserved and not released. */
  readonly calls: number
  /** Milliseconds of tool time. */
  readonly wallMs: number
  /** Bytes returned. */
  readonly bytes: number
  /** Cost units. */
  readonly cost: number
}

/** The usage of each account, including this call; or the first account that is used up. */
export type BudgetOutcome =
  | { readonly ok: true; readonly used: readonly Usage[] }
  | { readonly ok: false; readonly account: string; readonly used: Usage }

/** Token buckets by name. */
export interface RateStore {
  /**
   * Takes `tokens` from each bucket (default: 1, and from each bucket at most what it can hold), or none: then the
   * outcome names the bucket that has too few, and how long to wait.
   */
  take(buckets: readonly RateBucket[], now: number, tokens?: number): Awaitable<RateOutcome>
}

export interface RateBucket {
  /** Name of the bucket; buckets of one name share their tokens. */
  readonly bucket: string
  /** Tokens that are refilled per second. */
  readonly perSecond: number
  /** Maximum number of tokens in the bucket. */
  readonly burst: number
}

export type RateOutcome =
  | { readonly ok: true }
  | { readonly ok: false; readonly bucket: string; readonly waitMs: number }

/** Answers that apply to later calls. `body` is the JSON of the grant. */
export interface GrantStore {
  /** Adds a grant, or replaces the one with its id. */
  put(grant: StoredGrant): Awaitable<void>
  /** Oldest first; only those of `tool` if it is given. */
  list(filter?: { tool?: string }): Awaitable<readonly StoredGrant[]>
  /** Whether there was one with this id. */
  remove(id: string): Awaitable<boolean>
}

export interface StoredGrant {
  /** Removed by this id. */
  readonly id: string
  /** Canonical name of the tool it covers. */
  readonly tool: string
  /** JSON of the grant. */
  readonly body: string
  /** When it was given. */
  readonly createdAt: number
  /** When it expires; absent if it does not. */
  readonly expiresAt?: number
}

/** The connections of a store to its database. */
export interface PoolUse {
  /** How many it may open. */
  readonly max: number
  /** How many are open. */
  readonly open: number
  /** How many of those nothing uses. */
  readonly idle: number
  /** How many pieces of work wait for one. */
  readonly waiting: number
}

/** API tokens, by the hash of their secret. */
export interface TokenStore {
  /** Adds a token; rejects with `CONFLICT` if the name is taken. */
  add(token: StoredToken): Awaitable<void>
  /** The token of a secret, by its hash; an expired one too, and one that has this secret as its previous one. */
  findByHash(hash: string): Awaitable<StoredToken | undefined>
  /** Oldest first. */
  list(): Awaitable<readonly StoredToken[]>
  /** Whether there was one with this id. */
  remove(id: string): Awaitable<boolean>
  /**
   * Gives a token a new secret; the current one becomes the previous one. `false` if the hash of the current one is not
   * `from`, because the token was rotated or removed meanwhile.
   */
  rotate(id: string, rotation: TokenRotation): Awaitable<boolean>
  /** Records that one of its secrets was used. Default: the current one. */
  touch(id: string, at: number, secret?: 'current' | 'previous'): Awaitable<void>
}

/** What a rotation changes of a token. */
export interface TokenRotation {
  /** Hash of the secret that it has now. */
  readonly from: string
  /** Hash of its new secret. */
  readonly to: string
  /** When it is rotated. */
  readonly at: number
  /** When the new secret expires; absent if it does not. */
  readonly expiresAt?: number
  /** When the previous secret expires. */
  readonly previousExpiresAt: number
}

export interface StoredToken {
  /** Revoked by this id. */
  readonly id: string
  /** Unique name of its holder; recorded with every call. */
  readonly name: string
  /** SHA-256 of the secret; the secret itself is not stored. */
  readonly hash: string
  /** JSON: scopes, profile, policy, budget, roots. */
  readonly body: string
  /** When it was created. */
  readonly createdAt: number
  /** When it expires; absent if it does not. */
  readonly expiresAt?: number
  /** When its secret was last used; absent before the first use. */
  readonly usedAt?: number
  /** When it got its secret, if that was a rotation. */
  readonly rotatedAt?: number
  /** SHA-256 of the secret before the last rotation. */
  readonly previousHash?: string
  /** When that secret expires. */
  readonly previousExpiresAt?: number
  /** When that secret was last used. */
  readonly previousUsedAt?: number
}

/** Sign-ins of the console, by the hash of their cookie. */
export interface SignInStore {
  /** Adds a sign-in. */
  add(session: StoredSignIn): Awaitable<void>
  /** The sign-in of a cookie, by its hash; `undefined` for an expired one. */
  find(hash: string, now: number): Awaitable<StoredSignIn | undefined>
  /** Ends a sign-in, if it exists. */
  remove(hash: string): Awaitable<void>
  /** Ends all sign-ins of a token, when it is revoked. */
  removeOf(token: string): Awaitable<void>
}

export interface StoredSignIn {
  /** SHA-256 of the cookie. */
  readonly hash: string
  /** Id of the token, or the name of the person, that signed in. */
  readonly token: string
  /** JSON of the principal. */
  readonly body: string
  /** When the person signed in. */
  readonly createdAt: number
  /** When it expires. */
  readonly expiresAt: number
}

/** Work that is repeated until it succeeds, such as webhooks. */
export interface JobStore {
  /** Adds a job; an existing one with the same id stays as it is. */
  add(job: NewJob): Awaitable<void>
  /** Takes the job that is due first for `leaseMs`; a job whose lease has expired is due again. */
  take(taken: { kind: string; owner: string; now: number; leaseMs: number }): Awaitable<Job | undefined>
  /** The job succeeded and is removed. */
  finish(id: string): Awaitable<void>
  /** Makes a job that failed due again at that time. */
  retry(id: string, dueAt: number): Awaitable<void>
  /** The jobs of a kind, taken or not. */
  list(filter: { kind: string; limit?: number }): Awaitable<readonly Job[]>
}

export interface NewJob {
  /** Unique among all jobs. */
  readonly id: string
  /** `take` and `list` select by it; for example `webhook`. */
  readonly kind: string
  /** JSON. */
  readonly body: string
  /** The earliest time it may be taken. */
  readonly dueAt: number
}

export interface Job extends NewJob {
  /** How often it was taken. */
  readonly attempts: number
}

/** Leases on things that only one process may do at a time. */
export interface SlotStore {
  /** Whether the owner has the slot now: it was free, its lease had expired, or the owner had it already. */
  lease(slot: string, lease: { owner: string; now: number; until: number }): Awaitable<boolean>
  /** Releases the slot before its lease expires; only its owner can. */
  release(slot: string, owner: string): Awaitable<void>
}

/**
 * The heads of run records. `audit verify` compares the records with them, so that a truncated or removed record is
 * found.
 */
export interface HeadStore {
  /** Replaces the earlier head of an opening, and the head `continues`, which the new one covers. */
  put(head: StoredHead, continues?: { readonly seq: number; readonly hash: string }): Awaitable<void>
  /** The heads of one run or of all, including those of runs whose removal is on record. */
  list(filter?: { readonly run?: string }): Awaitable<readonly StoredHead[]>
  /** Records that the owner removes a run; its heads are kept, and its id may be used again. */
  remove(run: string, removal: { readonly by: string; readonly at: number }): Awaitable<void>
}

/** The user's own words, by run: values of calls that occur in them come from the user. */
export interface UserTextStore {
  /** Adds a text, and drops the oldest so that the run keeps at most `maxChars`. */
  add(run: string, text: string, options: { readonly maxChars: number; readonly at: number }): Awaitable<void>
  /** The texts of a run, oldest first. */
  list(run: string): Awaitable<readonly string[]>
  /** Removes all texts of a run. */
  remove(run: string): Awaitable<void>
}

/** The end of a record at the time its head was kept. */
export interface StoredHead {
  /** Id of the run. */
  readonly run: string
  /** The hash of the line that opened the run: each opening has a head of its own. */
  readonly opening: string
  /** Number of its last line. */
  readonly seq: number
  /** Hash of its last line. */
  readonly hash: string
  /** When the head was kept. */
  readonly at: number
  /** The person who has removed the run; absent if nobody has. */
  readonly removedBy?: string
}
