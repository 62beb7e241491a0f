import type { Awaitable, Principal, Store } from '@tool-hub/core'
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
  PolicySuggestions,
  PolicyTestReport,
  PrincipalEntry,
  QuestionEntry,
  RecordLine,
  RunDetail,
  RunEntry,
  RunLaterList,
  RunTaint,
  Scope,
  ServiceEvent,
  ShadowReportEntry,
  TokenEntry,
  TokenOverlap,
  UndoAnswer,
} from '@tool-hub/core/protocol'
import type { Hub, PrincipalHub } from '@tool-hub/runtime/hub'
import type { ProcessGroup } from './call-router.ts'

/** The service behind every transport: HTTP, WebSocket and MCP. */
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
  readonly group: ProcessGroup
  /** Everybody who uses the hub: the owner, every token, and every principal with a run on record. */
  principals(): Promise<readonly PrincipalEntry[]>
  health(): Promise<Health>
  /** The metrics in the format of Prometheus: calls, pending approvals, decisions, budgets and other processes. */
  metrics(): Promise<string>
  /** Rejects if nothing can be recorded; calls with side effects are refused then. */
  checkRecords(): Promise<void>
}

/** An authenticated caller. */
export interface Caller {
  /** `token:ci`, `user:ada`, `owner`: the name of its principal. */
  readonly name: string
  readonly scopes: ReadonlySet<Scope>
  /** The hub with the rights of this caller. */
  readonly hub: PrincipalHub
  /** The rights of the caller, for work that outlives its connection. Absent for the owner of the hub. */
  readonly rights?: Principal
  /** Id of its token, if it has one. */
  readonly token?: string
}

/** The calls and runs on record. */
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
  /** Throws NOT_FOUND if the call does not exist. */
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
  runLater(run: string): Promise<RunLaterList>
  taint(run: string): Promise<RunTaint>
  undo(
    run: string,
    options: { call?: string; dryRun?: boolean; force?: boolean; by: string; signal?: AbortSignal },
  ): Promise<UndoAnswer>
  /**
   * Removes a run that has ended and records the removal. Throws CONFLICT while something runs in it, or if its record
   * does not verify.
   */
  remove(run: string, options: { by: string }): Promise<void>
  verify(options?: { readonly run?: string; readonly only?: 'missing' }): Promise<AuditReport>
}

/** The event stream of the service. It keeps the latest events, so that a client that reconnects misses nothing. */
export interface EventHub {
  /**
   * Calls the listener with every event after the one with this id, then with every new event; first with `reset` if
   * that event has been dropped. A listener that throws is removed. Returns a function that unsubscribes.
   */
  subscribe(
    listener: (event: ServiceEvent, id: string) => void,
    options?: {
      after?: string
      types?: readonly ServiceEvent['type'][]
      /** Only what other processes learn from nobody else: calls and presence of this one. */
      isOwn?: boolean
    },
  ): () => void
  publish(event: ServiceEvent): void
  /** The people who are watching, over all processes; absent if only this one knows. */
  readonly people?: readonly { readonly name: string; readonly since: number }[]
}

/** Filters a list; `before` is the `next` of an earlier page. */
export interface ApprovalFilter {
  readonly state?: 'waiting' | 'all'
  readonly before?: string
  readonly limit?: number
}

/** Pending approvals and questions as one caller may see and answer them; nobody approves their own calls. */
export interface ApprovalService {
  /**
   * Newest first, with a share for every caller, long requests shortened. `next` is the `before` of the next page,
   * which may repeat some.
   */
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

/** The owner's rules: shows, explains, tests and saves them. */
export interface PolicyManager {
  state(): Promise<PolicyState>
  explain(caller: Caller, request: { tool: string; input: unknown; run?: string }): Promise<PolicyExplanation>
  /** Returns where the shadow policy differs from the policy in force; `undefined` without a shadow policy. */
  shadow(): ShadowReportEntry | undefined
  /** Returns the latest recorded calls that other rules would have decided differently. */
  test(request: { yaml: string; calls: number }): Promise<PolicyTestReport>
  /** Returns rules that approved calls suggest; with `lastMs`, only approvals of this time count. */
  suggest(options: { lastMs?: number; signal: AbortSignal }): Promise<PolicySuggestions>
  /** Writes the file and applies the rules immediately. Throws CONFLICT if the file has another version by now. */
  save(options: { yaml: string; version: string; by: string }): Promise<PolicyState>
}

/** API tokens; only their hashes are stored. */
export interface TokenManager {
  list(): Promise<readonly TokenEntry[]>
  /** The secret is returned only here. */
  create(token: NewToken, options?: { mayAllow?: boolean }): Promise<{ token: TokenEntry; secret: string }>
  /**
   * Gives a token another secret, which is returned only here; the current one stays valid for the overlap. Returns
   * `undefined` if the token does not exist.
   */
  rotate(
    id: string,
    overlap?: TokenOverlap,
    options?: { mayAllow?: boolean },
  ): Promise<{ token: TokenEntry; secret: string } | undefined>
  /** Revokes a token with all its secrets; returns whether there was one. */
  remove(id: string): Promise<boolean>
  /** Returns the caller of a secret; `undefined` if it is unknown, expired or revoked. */
  authenticate(secret: string): Awaitable<Caller | undefined>
}
