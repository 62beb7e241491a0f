import type {
  Approval,
  ApprovalAnswer,
  CallDetail,
  CallEntry,
  ClearedTaintEntry,
  FileChangeEntry,
  GrantEntry,
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
  RunTaint,
  ShadowReportEntry,
  TokenEntry,
  UndoAnswer,
} from '../protocol/index.ts'
import type { HttpRequests } from './http-requests.ts'

interface Page {
  /** `next` of an earlier page. Default: the newest. */
  readonly before?: number
  /** Most entries of the page. */
  readonly limit?: number
}

interface ApprovalFilter {
  /** `all` also lists what is answered or expired. Default: `waiting`. */
  readonly state?: 'waiting' | 'all'
  /** Most entries. Default: 100; at most 500. */
  readonly limit?: number
  /** For what comes after a page: when its last one was asked. */
  readonly before?: string
}

/** The resources of the service. */
export interface Resources {
  /** Calls that are on record. */
  readonly calls: {
    /** Newest first; `status: 'failed'` for every kind of failure. */
    list(
      filter?: Page & { run?: string; tool?: string; caller?: string; status?: string; text?: string },
    ): Promise<{ calls: CallEntry[]; next?: number }>
    /** One call with its arguments, decision and result; rejects with `NOT_FOUND` if there is none. */
    get(callId: string): Promise<CallDetail>
  }
  /** Runs: their records, changed files and undo. */
  readonly runs: {
    /** Newest first; `caller` or principal, `from` and `to` in milliseconds, `text` of ids, goals, tools, targets and summaries. */
    list(
      filter?: Page & { caller?: string; text?: string; from?: number; to?: number },
    ): Promise<{ runs: RunEntry[]; next?: number }>
    /** One run with its counts; rejects with `NOT_FOUND` if there is none. */
    get(run: string): Promise<RunDetail>
    /** Lines of its record after the one with the number `after`. */
    lines(run: string, page?: { after?: number; limit?: number }): Promise<RecordLine[]>
    /** Its record as it is on disk. */
    export(run: string): Promise<ReadableStream<Uint8Array>>
    /** Files that its calls changed, newest first. */
    changes(run: string): Promise<FileChangeEntry[]>
    /** Removes a run that has ended, on record. Rejects with `CONFLICT` while a call or a session runs in it, or if its record does not verify. */
    remove(run: string): Promise<void>
    /** What the run has read from outside, and who cleared it of that. */
    taint(run: string): Promise<RunTaint>
    /**
     * Lets a run count as one that has read nothing from outside, until it does; needs the scope `approve`. Rejects with
     * `CONFLICT` if it is not tainted, or if a call with such content still runs.
     */
    clearTaint(run: string, why: { reason: string }): Promise<ClearedTaintEntry>
    /** Reverts what the run, or one call of it, changed in files; `dryRun` only says what would happen. */
    undo(run: string, wish?: { call?: string; dryRun?: boolean; force?: boolean }): Promise<UndoAnswer>
  }
  /** Approval requests, and how to answer them; answering needs the scope `approve`. */
  readonly approvals: {
    /** Newest first. */
    list(filter?: ApprovalFilter): Promise<Approval[]>
    /** One request with what its call would do; rejects with `NOT_FOUND` if there is none. */
    get(id: string): Promise<Approval>
    /** `won` is false when somebody else was first. */
    answer(id: string, answer: ApprovalAnswer): Promise<{ won: boolean; approval: Approval }>
  }
  /** Questions of tools, and how to answer them; answering needs the scope `approve`. */
  readonly questions: {
    /** Newest first. */
    list(filter?: ApprovalFilter): Promise<QuestionEntry[]>
    /** One question; rejects with `NOT_FOUND` if there is none. */
    get(id: string): Promise<QuestionEntry>
    /** Answers with a text, or with the values of a form; `won` is `false` when somebody else was first. */
    answer(
      id: string,
      reply: { answer?: string; values?: Record<string, unknown> },
    ): Promise<{ won: boolean; question: QuestionEntry }>
  }
  /** Answers that are remembered: `list` returns those that still hold, `revoke` ends one. */
  readonly grants: { list(): Promise<GrantEntry[]>; revoke(id: string): Promise<void> }
  /** The owner's rules. */
  readonly policy: {
    /** The current rules, with the version that `save` needs. */
    get(): Promise<PolicyState>
    /** Rejects with `CONFLICT` if the rules have another version by now. */
    save(wish: { yaml: string; version: string }): Promise<PolicyState>
    /** Returns the decision of the policy for a call, and its rule. Does nothing else. */
    explain(asked: { tool: string; input: unknown; run?: string }): Promise<PolicyExplanation>
    /** Returns where the shadow policy differs from the policy in force; `undefined` without a shadow policy. */
    shadow(): Promise<ShadowReportEntry | undefined>
    /** Returns the recorded calls that other rules would have decided differently. */
    test(asked: { yaml: string; calls?: number }): Promise<PolicyTestReport>
    /**
     * Returns rules that would have covered the calls that people approved; with `since`, such as `7d`, only approvals of
     * that time count. Rejects with `RATE_LIMITED` while the records are read for others.
     */
    suggest(asked?: { since?: string }): Promise<PolicySuggestions>
  }
  /** Who uses the hub. */
  readonly principals: {
    /** The owner, every token and every principal with a run on record; the one seen last first. */
    list(): Promise<PrincipalEntry[]>
  }
  /** API tokens; needs the scope `admin`. */
  readonly tokens: {
    /** All tokens without their secrets. */
    list(): Promise<TokenEntry[]>
    /** The secret is returned only here. */
    create(token: NewToken): Promise<{ token: TokenEntry; secret: string }>
    /** Ends a token; requests with it are refused from then on. */
    revoke(id: string): Promise<void>
  }
}

/** Creates the methods of these resources. */
export function askResources(http: HttpRequests): Resources {
  return {
    calls: {
      list: (filter) => http.json('GET', '/v1/calls', { query: { ...filter } }),
      get: (callId) => http.json('GET', http.path('/v1/calls', callId)),
    },
    runs: {
      list: (filter) => http.json('GET', '/v1/runs', { query: { ...filter } }),
      get: (run) => http.json('GET', http.path('/v1/runs', run)),
      lines: async (run, page) =>
        (
          await http.json<{ lines: RecordLine[] }>('GET', `${http.path('/v1/runs', run)}/lines`, {
            query: { ...page },
          })
        ).lines,
      export: async (run) => (await http.send('GET', `${http.path('/v1/runs', run)}/export`)).body!,
      changes: async (run) =>
        (await http.json<{ changes: FileChangeEntry[] }>('GET', `${http.path('/v1/runs', run)}/changes`)).changes,
      remove: async (run) => void (await http.send('DELETE', http.path('/v1/runs', run))),
      taint: (run) => http.json('GET', `${http.path('/v1/runs', run)}/taint`),
      clearTaint: (run, why) => http.json('POST', `${http.path('/v1/runs', run)}/clear-taint`, { body: why }),
      undo: (run, wish = {}) => http.json('POST', `${http.path('/v1/runs', run)}/undo`, { body: wish }),
    },
    approvals: {
      list: async (filter) =>
        (await http.json<{ approvals: Approval[] }>('GET', '/v1/approvals', { query: { ...filter } })).approvals,
      get: (id) => http.json('GET', http.path('/v1/approvals', id)),
      answer: (id, answer) => http.json('POST', http.path('/v1/approvals', id), { body: answer }),
    },
    questions: {
      list: async (filter) =>
        (await http.json<{ questions: QuestionEntry[] }>('GET', '/v1/questions', { query: { ...filter } })).questions,
      get: (id) => http.json('GET', http.path('/v1/questions', id)),
      answer: (id, reply) => http.json('POST', http.path('/v1/questions', id), { body: reply }),
    },
    grants: {
      list: async () => (await http.json<{ grants: GrantEntry[] }>('GET', '/v1/grants')).grants,
      revoke: async (id) => void (await http.send('DELETE', http.path('/v1/grants', id))),
    },
    policy: {
      get: () => http.json('GET', '/v1/policy'),
      save: (wish) => http.json('PUT', '/v1/policy', { body: wish }),
      explain: (asked) => http.json('POST', '/v1/policy/explain', { body: asked }),
      shadow: async () => (await http.json<{ report?: ShadowReportEntry }>('GET', '/v1/policy/shadow')).report,
      test: (asked) => http.json('POST', '/v1/policy/test', { body: asked }),
      suggest: (asked) => http.json('GET', '/v1/policy/suggestions', { query: { ...asked } }),
    },
    principals: {
      list: async () => (await http.json<{ principals: PrincipalEntry[] }>('GET', '/v1/principals')).principals,
    },
    tokens: {
      list: async () => (await http.json<{ tokens: TokenEntry[] }>('GET', '/v1/tokens')).tokens,
      create: (token) => http.json('POST', '/v1/tokens', { body: token }),
      revoke: async (id) => void (await http.send('DELETE', http.path('/v1/tokens', id))),
    },
  }
}
