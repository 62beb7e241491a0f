import type { Awaitable } from '../lib/index.ts'

/** Requests that wait for a person: a call to approve or a question to answer. The first answer wins, also across processes. */
export interface ApprovalStore {
  /** Adds a request; RATE_LIMITED if `maxWaiting` requests of the same caller wait already. */
  file(ask: NewApproval, limit?: { readonly maxWaiting: number }): Awaitable<void>
  /** Answers a request; returns whether this answer won, and the request as it is now; `undefined` if there is none. */
  answer(
    id: string,
    answer: StoredAnswer,
  ): Awaitable<{ readonly won: boolean; readonly ask: StoredApproval } | undefined>
  /** Ends a request whose answer nobody waits for any more. */
  withdraw(id: string, state: 'withdrawn' | 'expired'): Awaitable<void>
  /** Gives a waiting request, or one with an unused answer, to a new owner if its process has ended: the same call is made again. */
  adopt(asked: {
    /** Only a request with this hash. */
    hash: string
    /** Only a request of this caller. */
    caller: string
    /** The new owner. */
    owner: string | null
    /** The current time. */
    now: number
  }): Awaitable<StoredApproval | undefined>
  /** Gives a waiting request to another owner; `null` if its caller left and may return. */
  leave(id: string, owner: string | null): Awaitable<void>
  /** Marks the answer as used: no other call gets it. */
  use(id: string): Awaitable<void>
  /** A request by its id; `undefined` if there is none. */
  find(id: string): Awaitable<StoredApproval | undefined>
  /** Newest first. */
  list(filter?: {
    /** Only those in this state. Default: all. */
    state?: StoredApproval['state']
    /** Only approvals, or only questions. Default: both. */
    kind?: StoredApproval['kind']
    /** Only those requested before this time. Default: all. */
    before?: number
    /** Maximum number of entries. */
    limit?: number
  }): Awaitable<readonly StoredApproval[]>
  /** The same without the fields that may be large. */
  briefs(filter?: {
    /** Only those in this state. Default: all. */
    state?: StoredApproval['state']
    /** Only approvals, or only questions. Default: both. */
    kind?: StoredApproval['kind']
    /** Only those of this caller. Default: all. */
    caller?: string
    /** Only those requested before this time. Default: all. */
    before?: number
    /** Maximum number of entries. */
    limit?: number
  }): Awaitable<readonly ApprovalBrief[]>
}

/** An approval request or a question, as it is added. */
export interface NewApproval {
  /** Unique among all requests. */
  readonly id: string
  /** A call to approve, or a question that a tool asks. */
  readonly kind: 'approval' | 'question'
  /** Id of the call that waits. */
  readonly callId: string
  /** Run of that call. */
  readonly run: string
  /** Canonical name of the tool. */
  readonly tool: string
  /** The caller: its principal if that is known. */
  readonly caller: string
  /** Hash of tool, input and targets: the answer applies to nothing else. */
  readonly hash: string
  /** JSON of what is shown to the person. */
  readonly request: string
  /** When it was requested. */
  readonly askedAt: number
  /** When an answer comes too late. */
  readonly expiresAt: number
  /** The process that waits for the answer; `null` if none does, until the same call is made again. */
  readonly owner: string | null
}

/** A request with its outcome. */
export interface StoredApproval extends NewApproval {
  /** Whether it waits, and how it ended. */
  readonly state: 'waiting' | 'answered' | 'withdrawn' | 'expired'
  /** The answer that won; absent before it is answered. */
  readonly answer?: StoredAnswer
  /** Whether a call has used the answer. */
  readonly used: boolean
}

/** The fields of a request that are always small. */
export type ApprovalBrief = Pick<StoredApproval, 'id' | 'kind' | 'caller' | 'askedAt' | 'expiresAt' | 'state'>

export interface StoredAnswer {
  /** JSON of the reply. */
  readonly reply: string
  /** The person who answered. */
  readonly by: string
  /** The channel of the answer: console, cli, websocket, webhook, mcp, terminal or library. */
  readonly via: string
  /** When it was given. */
  readonly at: number
}
