import type { BudgetLimits } from './options.ts'
import type { CanvasStore } from './store-parts/canvases.ts'
import type { InboxStore } from './store-parts/inbox.ts'
import type { MemoryStore } from './store-parts/memory.ts'
import type { ScheduleStore } from './store-parts/schedules.ts'
import type { MailStore, SessionStore } from './store-parts/sessions.ts'

/** A value, or the promise of one: an embedded store answers at once, a database server does not. */
export type Awaitable<T> = T | Promise<T>

/**
 * What outlives a process, in the words of the domain. Every method is atomic and safe to use from several processes;
 * times are milliseconds since 1970 and come from the caller, whose clock decides. `openStore` keeps it in one file,
 * `createMemoryStore` in this process.
 */
export interface Store {
  readonly keys: KeyStore
  readonly budgets: BudgetStore
  readonly rates: RateStore
  readonly asks: AskStore
  readonly grants: GrantStore
  readonly tokens: TokenStore
  readonly signIns: SignInStore
  readonly jobs: JobStore
  readonly slots: SlotStore
  readonly memory: MemoryStore
  readonly sessions: SessionStore
  readonly mail: MailStore
  readonly calls: CallIndex
  readonly heads: HeadStore
  readonly canvases: CanvasStore
  readonly schedules: ScheduleStore
  readonly events: EventStore
  readonly inbox: InboxStore
  /** Writes something and takes it back; rejects with what is wrong, also with damage that was found by it or before. */
  check(): Promise<void>
  /** A whole copy in a file that must not exist, taken while others go on. */
  backup(path: string): Promise<void>
  /** Takes away what has expired; called now and then. */
  sweep(now: number): Awaitable<void>
  close(): Promise<void>
}

/** Idempotency keys: who executes the call of a key, and what it gave. */
export interface KeyStore {
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
  readonly argsHash: string
  readonly state: 'running' | 'finished'
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
  used(account: string): Awaitable<Usage>
  forget(account: string): Awaitable<void>
}

/** An account, what it may use, and until when it is kept. */
export interface BudgetAccountLimits {
  readonly account: string
  readonly limits: BudgetLimits
  readonly expiresAt?: number
}

/** What an account has used. */
export interface Usage {
  readonly calls: number
  readonly wallMs: number
  readonly bytes: number
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
  readonly bucket: string
  readonly perSecond: number
  readonly burst: number
}

export type RateOutcome =
  | { readonly ok: true }
  | { readonly ok: false; readonly bucket: string; readonly waitMs: number }

/** What waits for a person: a call to approve, a question to answer. The first answer wins, also over processes. */
export interface AskStore {
  /** RATE_LIMITED when so many of the same caller wait already. */
  file(ask: NewAsk, limit?: { readonly mostWaiting: number }): Awaitable<void>
  /** Answers what waits; tells whether this answer won, and the ask as it is now. Nothing when there is none. */
  answer(id: string, answer: AskAnswer): Awaitable<{ readonly won: boolean; readonly ask: Ask } | undefined>
  /** Nobody waits for the answer any more. */
  withdraw(id: string, state: 'withdrawn' | 'expired'): Awaitable<void>
  /** Hands an ask that waits, or whose answer nobody has used, to a new owner: the same call, made again after a crash. */
  adopt(asked: { hash: string; caller: string; owner: string; now: number }): Awaitable<Ask | undefined>
  /** Gives an ask that waits to another owner: nobody, when its caller went away and may come again. */
  leave(id: string, owner: string): Awaitable<void>
  /** The answer was acted on: it is not given to anybody else. */
  use(id: string): Awaitable<void>
  find(id: string): Awaitable<Ask | undefined>
  /** Newest first. */
  list(filter?: {
    state?: Ask['state']
    kind?: Ask['kind']
    before?: number
    limit?: number
  }): Awaitable<readonly Ask[]>
  /** The same without what may be heavy; of one caller where it is named. */
  briefs(filter?: {
    state?: Ask['state']
    kind?: Ask['kind']
    caller?: string
    before?: number
    limit?: number
  }): Awaitable<readonly AskBrief[]>
}

/** A question to a person, as it is filed. */
export interface NewAsk {
  readonly id: string
  readonly kind: 'approval' | 'question'
  readonly callId: string
  readonly run: string
  readonly tool: string
  readonly caller: string
  /** Binds the answer to what was asked. */
  readonly hash: string
  /** JSON of what the person sees. */
  readonly request: string
  readonly askedAt: number
  readonly expiresAt: number
  /** The process that waits; see `Store` for what becomes of an ask whose owner is gone. */
  readonly owner: string
}

/** A question with what has become of it. */
export interface Ask extends NewAsk {
  readonly state: 'waiting' | 'answered' | 'withdrawn' | 'expired'
  readonly answer?: AskAnswer
  /** Somebody has acted on the answer. */
  readonly used: boolean
}

/** What an ask is found by: small, whatever it asks for. */
export type AskBrief = Pick<Ask, 'id' | 'kind' | 'caller' | 'askedAt' | 'expiresAt' | 'state'>

export interface AskAnswer {
  /** JSON of the reply. */
  readonly reply: string
  readonly by: string
  /** The way it came: console, cli, websocket, webhook, mcp, terminal, library. */
  readonly via: string
  readonly at: number
}

/** Answers that hold for later calls. `body` is the JSON of the grant. */
export interface GrantStore {
  put(grant: StoredGrant): Awaitable<void>
  /** Oldest first; those of one tool when it is named. */
  list(filter?: { tool?: string }): Awaitable<readonly StoredGrant[]>
  remove(id: string): Awaitable<boolean>
}

export interface StoredGrant {
  readonly id: string
  readonly tool: string
  readonly body: string
  readonly createdAt: number
  readonly expiresAt?: number
}

/** API tokens, by the hash of their secret. */
export interface TokenStore {
  add(token: StoredToken): Awaitable<void>
  findByHash(hash: string): Awaitable<StoredToken | undefined>
  /** Oldest first. */
  list(): Awaitable<readonly StoredToken[]>
  remove(id: string): Awaitable<boolean>
  /** Remembers that it was used. */
  touch(id: string, at: number): Awaitable<void>
}

export interface StoredToken {
  readonly id: string
  /** Who it is for, unique; recorded with every call. */
  readonly name: string
  readonly hash: string
  /** JSON: scopes, profile, policy, budget, roots. */
  readonly body: string
  readonly createdAt: number
  readonly expiresAt?: number
  readonly usedAt?: number
}

/** Sign-ins of the console, by the hash of their cookie. */
export interface SignInStore {
  add(session: StoredSignIn): Awaitable<void>
  find(hash: string, now: number): Awaitable<StoredSignIn | undefined>
  remove(hash: string): Awaitable<void>
  /** All that came from one token, when it is revoked. */
  removeOf(token: string): Awaitable<void>
}

export interface StoredSignIn {
  readonly hash: string
  /** Id of the token, or the name of the person, that signed in. */
  readonly token: string
  /** JSON of the principal. */
  readonly body: string
  readonly createdAt: number
  readonly expiresAt: number
}

/** Work that must be done once, and again until it works: webhooks, schedules. */
export interface JobStore {
  add(job: NewJob): Awaitable<void>
  /** Takes the job that is due first for `leaseMs`; a job whose lease ran out is due again. */
  take(taken: { kind: string; owner: string; now: number; leaseMs: number }): Awaitable<Job | undefined>
  finish(id: string): Awaitable<void>
  /** It failed: due again at that time. */
  retry(id: string, dueAt: number): Awaitable<void>
  list(filter: { kind: string; limit?: number }): Awaitable<readonly Job[]>
}

export interface NewJob {
  readonly id: string
  readonly kind: string
  /** JSON. */
  readonly body: string
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
  readonly run: string
  /** The hash of the line that opened the run: each opening has a head of its own. */
  readonly opening: string
  readonly seq: number
  readonly hash: string
  readonly at: number
  /** Who has removed the run, if somebody has. */
  readonly removedBy?: string
}

/** The index over run records: what can be looked up fast. The records are the truth; it can be built anew from them. */
export interface CallIndex {
  /** Adds or completes calls and runs, and remembers how far each run's record was read. */
  put(batch: IndexBatch): Awaitable<void>
  /** How far a run's record is in the index, in bytes; 0 for one that is not. */
  position(run: string): Awaitable<number>
  run(id: string): Awaitable<IndexedRun | undefined>
  call(callId: string): Awaitable<IndexedCall | undefined>
  /** Newest first. */
  runs(filter: { before?: number; caller?: string; limit: number }): Awaitable<readonly IndexedRun[]>
  /** Newest first; `text` is looked for in tool, caller, summary and targets. */
  calls(filter: CallFilter): Awaitable<readonly IndexedCall[]>
  /** Per slice of time: how many calls, how many failed, how long they took. */
  rates(span: { since: number; sliceMs: number }): Awaitable<readonly RateSlice[]>
  /** Forgets a run that was removed, with its calls. */
  remove(run: string): Awaitable<void>
  clear(): Awaitable<void>
}

export interface IndexBatch {
  readonly calls: readonly IndexedCall[]
  readonly runs: readonly { readonly run: string; readonly bytes: number; readonly at: number }[]
}

export interface CallFilter {
  readonly run?: string
  readonly tool?: string
  readonly caller?: string
  /** `failed` is every state but ok, pending and running. */
  readonly status?: string
  readonly text?: string
  readonly before?: number
  readonly limit: number
}

export interface IndexedRun {
  readonly run: string
  readonly caller: string
  readonly startedAt: number
  readonly endedAt: number
  readonly calls: number
  readonly failures: number
}

/** One call as lists show it. */
export interface IndexedCall {
  readonly callId: string
  readonly run: string
  /** Line of its start in the record, or of its end when it has no other. */
  readonly seq: number
  readonly tool: string
  readonly caller: string
  readonly principal?: string
  readonly parent?: string
  /** `running` until its end is on record, then the state of its result, or `interrupted`. */
  readonly status: string
  readonly startedAt: number
  readonly durationMs?: number
  readonly effect?: string
  readonly rule?: string
  readonly error?: string
  readonly summary?: string
  readonly targets?: readonly string[]
  readonly approvedBy?: string
}

export interface RateSlice {
  readonly at: number
  readonly calls: number
  readonly failures: number
  readonly meanMs: number
  readonly maxMs: number
}

/** What processes tell each other: an ask was filed or answered, a policy was saved. */
export interface EventStore {
  append(event: { topic: string; body: string; at: number }): Awaitable<number>
  /** Hears events of every process that come after now, each once, in order. Returns how to stop. */
  watch(listener: (event: StoredEvent) => void): () => void
}

export interface StoredEvent {
  readonly seq: number
  readonly topic: string
  readonly body: string
  readonly at: number
}
