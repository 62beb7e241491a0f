import type { Awaitable } from '../store.ts'

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
  /** An ask by its id; `undefined` if there is none. */
  find(id: string): Awaitable<Ask | undefined>
  /** Newest first. */
  list(filter?: {
    /** Only those in this state. Default: all. */
    state?: Ask['state']
    /** Only approvals, or only questions. Default: both. */
    kind?: Ask['kind']
    /** Only those asked before this time. Default: all. */
    before?: number
    /** Most asks of the page. */
    limit?: number
  }): Awaitable<readonly Ask[]>
  /** The same without what may be heavy; of one caller where it is named. */
  briefs(filter?: {
    /** Only those in this state. Default: all. */
    state?: Ask['state']
    /** Only approvals, or only questions. Default: both. */
    kind?: Ask['kind']
    /** Only those of this caller. Default: all. */
    caller?: string
    /** Only those asked before this time. Default: all. */
    before?: number
    /** Most asks of the page. */
    limit?: number
  }): Awaitable<readonly AskBrief[]>
}

/** A question to a person, as it is filed. */
export interface NewAsk {
  /** Unique among all asks. */
  readonly id: string
  /** A call to approve, or a question of a tool. */
  readonly kind: 'approval' | 'question'
  /** Id of the call that waits. */
  readonly callId: string
  /** Run of that call. */
  readonly run: string
  /** Canonical name of the tool. */
  readonly tool: string
  /** Who calls: the principal where it is known. */
  readonly caller: string
  /** Binds the answer to what was asked. */
  readonly hash: string
  /** JSON of what the person sees. */
  readonly request: string
  /** When it was asked. */
  readonly askedAt: number
  /** When an answer is too late. */
  readonly expiresAt: number
  /** The process that waits; see `Store` for what becomes of an ask whose owner is gone. */
  readonly owner: string
}

/** A question with what has become of it. */
export interface Ask extends NewAsk {
  /** What has become of it. */
  readonly state: 'waiting' | 'answered' | 'withdrawn' | 'expired'
  /** The answer that won; absent before. */
  readonly answer?: AskAnswer
  /** Somebody has acted on the answer. */
  readonly used: boolean
}

/** What an ask is found by: small, whatever it asks for. */
export type AskBrief = Pick<Ask, 'id' | 'kind' | 'caller' | 'askedAt' | 'expiresAt' | 'state'>

export interface AskAnswer {
  /** JSON of the reply. */
  readonly reply: string
  /** Who answered. */
  readonly by: string
  /** The way it came: console, cli, websocket, webhook, mcp, terminal, library. */
  readonly via: string
  /** When. */
  readonly at: number
}
