import type { BudgetLimits } from './options.ts'
import type { AskStore } from './store-parts/asks.ts'
import type { CallIndex } from './store-parts/call-index.ts'
import type { CanvasStore } from './store-parts/canvases.ts'
import type { InboxStore } from './store-parts/inbox.ts'
import type { MemoryStore } from './store-parts/memory.ts'
import type { ScheduleStore } from './store-parts/schedules.ts'
import type { MailStore, SessionStore } from './store-parts/sessions.ts'

export type { Ask, AskAnswer, AskBrief, AskStore, NewAsk } from './store-parts/asks.ts'
export type {
  CallFilter,
  CallIndex,
  IndexBatch,
  IndexedCall,
  IndexedCaller,
  IndexedRun,
  RateSlice,
  RunFilter,
} from './store-parts/call-index.ts'

/** A value, or the promise of one: an embedded store answers at once, a database server does not. */
export type Awaitable<T> = T | Promise<T>

/**
 * What outlives a process, in the words of the domain. Every method is atomic and safe to use from several processes;
 * times are milliseconds since 1970 and come from the caller, whose clock decides. `openStore` keeps it in one file,
 * `createMemoryStore` in this process.
 */
export interface Store {
  /** Idempotency keys and their recorded results. */
  readonly keys: KeyStore
  /** What runs, sessions, tools and principals have used. */
  readonly budgets: BudgetStore
  /** Token buckets of rate limits. */
  readonly rates: RateStore
  /** Approval requests and questions that wait for a person. */
  readonly asks: AskStore
  /** Answers of people that hold for later calls. */
  readonly grants: GrantStore
  /** API tokens, by the hash of their secret. */
  readonly tokens: TokenStore
  /** Sign-ins of the console, by the hash of their cookie. */
  readonly signIns: SignInStore
  /** Work that is repeated until it succeeds, such as webhooks. */
  readonly jobs: JobStore
  /** Leases on things that only one process may do at a time. */
  readonly slots: SlotStore
  /** Notes of agents. */
  readonly memory: MemoryStore
  /** Sessions of agents. */
  readonly sessions: SessionStore
  /** What sessions write to each other. */
  readonly mail: MailStore
  /** The index over the records of all runs; it can be built anew. */
  readonly calls: CallIndex
  /** The heads of run records, by which a removed tail is found. */
  readonly heads: HeadStore
  /** What agents show to people. */
  readonly canvases: CanvasStore
  /** Calls that are made later, and what became of them. */
  readonly schedules: ScheduleStore
  /** Events between the processes that share the store. */
  readonly events: EventStore
  /** Messages to the people at the console. */
  readonly inbox: InboxStore
  /** Writes something and takes it back; rejects with what is wrong, also with damage that was found by it or before. */
  check(): Promise<void>
  /** A whole copy in a file that must not exist, taken while others go on. */
  backup(path: string): Promise<void>
  /** Takes away what has expired; called now and then. */
  sweep(now: number): Awaitable<void>
  /** Writes what is buffered and releases the store; no other method may be called afterwards. */
  close(): Promise<void>
}

/** Idempotency keys: who executes the call of a key, and what it gave. */
export interface KeyStore {
  /** What is known of a key; `undefined` for one that nobody has claimed. */
  look(key: string): Awaitable<KeyState | undefined>
  /** Claims the key for one who is about to execute; gives back who holds it when somebody does. An expired one is free. */
  claim(key: string, claim: { argsHash: string; owner: string; now: number }): Awaitable<KeyState | undefined>
  /** Keeps what the owner's execution gave; without `result`, only that it happened. */
  finish(key: string, end: { owner: string; result?: string; expiresAt: number }): Awaitable<void>
  /** Nothing was executed after all: the key is free again. */
  release(key: string, owner: string): Awaitable<void>
}

/** What is known of a claimed key. A running one whose owner is gone has had an unknown effect. */
export interface KeyState {
  /** SHA-256 of the arguments; the same key with other arguments is a `CONFLICT`. */
  readonly argsHash: string
  /** Whether the execution is over. */
  readonly state: 'running' | 'finished'
  /** The process that executes, or has executed, the call. */
  readonly owner: string
  /** JSON, when it was kept. */
  readonly result?: string
  /** Of a finished one. */
  readonly expiresAt?: number
}

/** Accounts that count what was used: of a run, a session, a principal's day. */
export interface BudgetStore {
  /** Counts one call and its cost in all accounts, or in none when one of them has no room left: that one comes back. */
  reserve(accounts: readonly BudgetAccountLimits[], cost: number): Awaitable<BudgetOutcome>
  /** Adds what a call used, and gives back what was used of each account. */
  settle(accounts: readonly string[], used: { wallMs: number; bytes: number }): Awaitable<readonly Usage[]>
  /** Gives back a call that never ran. */
  release(accounts: readonly string[], cost: number): Awaitable<void>
  /** What an account has used; zeros for an unknown one. */
  used(account: string): Awaitable<Usage>
  /** Removes an account, so that it begins anew. */
  forget(account: string): Awaitable<void>
}

/** An account, what it may use, and until when it is kept. */
export interface BudgetAccountLimits {
  /** Name of the account, such as `run:<id>`. */
  readonly account: string
  /** What it may use; an absent limit is none. */
  readonly limits: BudgetLimits
  /** When the account begins anew. Default: never. */
  readonly expiresAt?: number
}

/** What an account has used. */
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

/** What each account has used, this call included; or the first one that is used up. */
export type BudgetOutcome =
  | { readonly ok: true; readonly used: readonly Usage[] }
  | { readonly ok: false; readonly account: string; readonly used: Usage }

/** Token buckets by name. */
export interface RateStore {
  /**
   * Takes `tokens` of each bucket (one unless said, and of each bucket at most what it can hold), or none: then it says
   * which one has too few, and for how long.
   */
  take(buckets: readonly RateBucket[], now: number, tokens?: number): Awaitable<RateOutcome>
}

export interface RateBucket {
  /** Name of the bucket; buckets of one name share their tokens. */
  readonly bucket: string
  /** Tokens that come back per second. */
  readonly perSecond: number
  /** Tokens that the bucket holds at most. */
  readonly burst: number
}

export type RateOutcome =
  | { readonly ok: true }
  | { readonly ok: false; readonly bucket: string; readonly waitMs: number }

/** Answers that hold for later calls. `body` is the JSON of the grant. */
export interface GrantStore {
  /** Adds a grant, or replaces the one with its id. */
  put(grant: StoredGrant): Awaitable<void>
  /** Oldest first; those of one tool when it is named. */
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
  /** When it ends; absent when it does not. */
  readonly expiresAt?: number
}

/** API tokens, by the hash of their secret. */
export interface TokenStore {
  /** Adds a token; rejects with `CONFLICT` if the name is taken. */
  add(token: StoredToken): Awaitable<void>
  /** The token of a secret, by its hash; an expired one too. */
  findByHash(hash: string): Awaitable<StoredToken | undefined>
  /** Oldest first. */
  list(): Awaitable<readonly StoredToken[]>
  /** Whether there was one with this id. */
  remove(id: string): Awaitable<boolean>
  /** Remembers that it was used. */
  touch(id: string, at: number): Awaitable<void>
}

export interface StoredToken {
  /** Revoked by this id. */
  readonly id: string
  /** Who it is for, unique; recorded with every call. */
  readonly name: string
  /** SHA-256 of the secret; the secret itself is not stored. */
  readonly hash: string
  /** JSON: scopes, profile, policy, budget, roots. */
  readonly body: string
  /** When it was made. */
  readonly createdAt: number
  /** When it ends; absent when it does not. */
  readonly expiresAt?: number
  /** When it was last used; absent before. */
  readonly usedAt?: number
}

/** Sign-ins of the console, by the hash of their cookie. */
export interface SignInStore {
  /** Adds a sign-in. */
  add(session: StoredSignIn): Awaitable<void>
  /** The sign-in of a cookie, by its hash; `undefined` for an expired one. */
  find(hash: string, now: number): Awaitable<StoredSignIn | undefined>
  /** Ends one sign-in; nothing happens if there is none. */
  remove(hash: string): Awaitable<void>
  /** All that came from one token, when it is revoked. */
  removeOf(token: string): Awaitable<void>
}

export interface StoredSignIn {
  /** SHA-256 of the cookie. */
  readonly hash: string
  /** Id of the token, or the name of the person, that signed in. */
  readonly token: string
  /** JSON of the principal. */
  readonly body: string
  /** When somebody signed in. */
  readonly createdAt: number
  /** When it ends. */
  readonly expiresAt: number
}

/** Work that must be done once, and again until it works: webhooks, schedules. */
export interface JobStore {
  /** Adds a job; one with a known id stays as it is. */
  add(job: NewJob): Awaitable<void>
  /** Takes the job that is due first for `leaseMs`; a job whose lease ran out is due again. */
  take(taken: { kind: string; owner: string; now: number; leaseMs: number }): Awaitable<Job | undefined>
  /** The job succeeded and is removed. */
  finish(id: string): Awaitable<void>
  /** It failed: due again at that time. */
  retry(id: string, dueAt: number): Awaitable<void>
  /** Jobs of a kind, taken or not. */
  list(filter: { kind: string; limit?: number }): Awaitable<readonly Job[]>
}

export interface NewJob {
  /** Unique among all jobs. */
  readonly id: string
  /** What `take` and `list` select by, such as `webhook`. */
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

/** Things that only one process may do at a time, such as a minute of a schedule. */
export interface SlotStore {
  /** Whether the slot is the owner's now: it was free, expired, or theirs already. */
  lease(slot: string, lease: { owner: string; now: number; until: number }): Awaitable<boolean>
  /** Gives the slot up before its time; only the owner can. */
  release(slot: string, owner: string): Awaitable<void>
}

/** The heads of run records. `audit verify` compares the records with them, so that a removed tail or run is found. */
export interface HeadStore {
  /** Keeps the head of an opening in place of its earlier one, and of the head `continues`, which it covers. */
  put(head: StoredHead, continues?: { readonly seq: number; readonly hash: string }): Awaitable<void>
  /** Of one run or of all; also those of runs that were removed on record. */
  list(filter?: { readonly run?: string }): Awaitable<readonly StoredHead[]>
  /** Puts on record that the owner removes a run; its heads are kept, and its name may be used again. */
  remove(run: string, removal: { readonly by: string; readonly at: number }): Awaitable<void>
}

/** Where a record ended when its head was kept. */
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
  /** Who has removed the run, if somebody has. */
  readonly removedBy?: string
}

/** What processes tell each other: an ask was filed or answered, a policy was saved. */
export interface EventStore {
  /** Tells all processes; returns the number of the event. */
  append(event: { topic: string; body: string; at: number }): Awaitable<number>
  /** Hears events of every process that come after now, each once, in order. Returns how to stop. */
  watch(listener: (event: StoredEvent) => void): () => void
}

export interface StoredEvent {
  /** Counts up over all processes. */
  readonly seq: number
  /** What it is about, such as `asks`. */
  readonly topic: string
  /** JSON. */
  readonly body: string
  /** When it was appended. */
  readonly at: number
}
