import type { Awaitable, Principal, Store } from '../core/index.ts'
import type { Hub, PrincipalHub } from '../hub/index.ts'
import type {
  Approval,
  ApprovalAnswer,
  AuditReport,
  CallDetail,
  CallEntry,
  FileChangeEntry,
  Health,
  NewToken,
  PolicyExplanation,
  PolicyState,
  PolicyTestReport,
  PrincipalEntry,
  QuestionEntry,
  RecordLine,
  RunDetail,
  RunEntry,
  Scope,
  ServiceEvent,
  TokenEntry,
  UndoAnswer,
} from '../protocol/index.ts'

/** Everything behind the doors of the service, whichever way somebody comes in. */
export interface Service {
  readonly hub: Hub
  readonly store: Store
  readonly version: string
  readonly startedAt: number
  readonly history: CallHistory
  readonly events: EventHub
  readonly approvals: ApprovalService
  readonly policy: PolicyManager
  readonly tokens: TokenManager
  /** Who uses the hub: the owner, every token, and all that have runs on record. */
  principals(): Promise<readonly PrincipalEntry[]>
  health(): Promise<Health>
  /** What Prometheus scrapes: the calls of the hub, and what waits, was decided and is used up. */
  metrics(): Promise<string>
  /** Rejects when nothing can be recorded: then no call with effects is taken. */
  checkRecords(): Promise<void>
}

/** Somebody who came in, known by name. */
export interface Caller {
  /** `token:ci`, `user:ada`, `owner`: the name of its principal. */
  readonly name: string
  readonly scopes: ReadonlySet<Scope>
  /** The hub as this one may use it. */
  readonly hub: PrincipalHub
  /** What it may, for what is done when it is not here any more; the owner of the hub without. */
  readonly rights?: Principal
  /** Id of its token, where it has one. */
  readonly token?: string
}

/** What was done, from the index and the records. */
export interface CallHistory {
  calls(filter: {
    run?: string
    tool?: string
    caller?: string
    status?: string
    text?: string
    before?: number
    limit: number
  }): Promise<{ calls: readonly CallEntry[]; next?: number }>
  /** NOT_FOUND when there is none. */
  call(callId: string): Promise<CallDetail>
  runs(filter: {
    caller?: string
    text?: string
    from?: number
    to?: number
    before?: number
    limit: number
  }): Promise<{ runs: readonly RunEntry[]; next?: number }>
  run(run: string): Promise<RunDetail>
  /** Lines of the record after `after`. */
  lines(run: string, page: { after: number; limit: number }): Promise<readonly RecordLine[]>
  /** The record as it is on disk. */
  export(run: string): Promise<ReadableStream<Uint8Array>>
  changes(run: string): Promise<readonly FileChangeEntry[]>
  undo(
    run: string,
    wish: { call?: string; dryRun?: boolean; force?: boolean; by: string; signal?: AbortSignal },
  ): Promise<UndoAnswer>
  /** Removes a run that has ended, on record; CONFLICT when something goes on in it, or its record does not verify. */
  remove(run: string, wish: { by: string }): Promise<void>
  verify(options?: { readonly run?: string; readonly only?: 'missing' }): Promise<AuditReport>
}

/** What happens, as it happens: kept for a while, so that whoever was away can go on where it was. */
export interface EventHub {
  /**
   * Tells every event after the one with this id, then all that come; `reset` first when that one is gone. A listener
   * that throws is taken off. Returns how to stop.
   */
  subscribe(
    listener: (event: ServiceEvent, id: string) => void,
    options?: { after?: string; types?: readonly ServiceEvent['type'][] },
  ): () => void
  publish(event: ServiceEvent): void
}

/** Filters a list; `before` is the `next` of an earlier page. */
export interface ApprovalFilter {
  readonly state?: 'waiting' | 'all'
  readonly before?: string
  readonly limit?: number
}

/** Pending approvals and questions as one caller may see and answer them; nobody approves their own calls. */
export interface ApprovalService {
  /** Newest first, fair to all callers, long ones cut; `next` is the `before` of the next page, which may repeat some. */
  approvals(caller: Caller, filter?: ApprovalFilter): Promise<{ approvals: readonly Approval[]; next?: string }>
  approval(caller: Caller, id: string): Promise<Approval>
  answer(caller: Caller, id: string, answer: ApprovalAnswer, via: string): Promise<{ won: boolean; approval: Approval }>
  questions(caller: Caller, filter?: ApprovalFilter): Promise<{ questions: readonly QuestionEntry[]; next?: string }>
  question(caller: Caller, id: string): Promise<QuestionEntry>
  reply(
    caller: Caller,
    id: string,
    reply: { answer?: string; values?: Record<string, unknown> },
    via: string,
  ): Promise<{ won: boolean; question: QuestionEntry }>
  /** Makes a caller that may answer reachable, so that calls wait; returns a function that ends it. */
  attend(caller: Caller): () => void
}

/** The owner's rules: what holds, what would change, and saving it. */
export interface PolicyManager {
  state(): Promise<PolicyState>
  explain(caller: Caller, asked: { tool: string; input: unknown; run?: string }): Promise<PolicyExplanation>
  /** Which of the latest recorded calls other rules would have decided otherwise. */
  test(asked: { yaml: string; calls: number }): Promise<PolicyTestReport>
  /** Writes the file and uses it at once; CONFLICT when it is another one than `version` by now. */
  save(wish: { yaml: string; version: string; by: string }): Promise<PolicyState>
}

/** API tokens; only their hashes are kept. */
export interface TokenManager {
  list(): Promise<readonly TokenEntry[]>
  /** The secret is told only here. */
  create(token: NewToken, options?: { mayAllow?: boolean }): Promise<{ token: TokenEntry; secret: string }>
  remove(id: string): Promise<boolean>
  /** Whose secret it is; nothing for one that is unknown, expired or revoked. */
  authenticate(secret: string): Awaitable<Caller | undefined>
}
