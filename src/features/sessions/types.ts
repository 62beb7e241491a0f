import type { SessionLimits } from './runner.ts'
import type { SessionState } from './store-types.ts'

/** The owner of the hub, as a session addresses it; no session may have this name. */
export const OWNER = 'owner'
/** The session that started the current one; no session may have this name. */
export const PARENT = 'parent'
/** Maximum length of a message and of a task. */
export const MAX_TEXT_CHARS = 20_000
/** The label that an agent may give a session. */
export const SESSION_LABEL = /^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$/
/** Names that are not available as labels. */
export const RESERVED_SESSION_NAMES: readonly string[] = [OWNER, PARENT]

/** A message from one session to another. */
export interface SessionMessage {
  /** Answer with this id as `replyTo`. */
  readonly id: string
  /** The session that wrote it; `owner` for the owner of the hub. */
  readonly from: string
  /** The session that receives it. */
  readonly to: string
  /** What it says. */
  readonly text: string
  /** Id of the message that it answers; absent for a new one. */
  readonly replyTo?: string
  /** Whether its sender has read untrusted content. */
  readonly isUntrusted: boolean
  /** ISO time. */
  readonly sentAt: string
}

/** A session in a list. */
export interface SessionBrief {
  /** Also the run of its calls. */
  readonly id: string
  /** The name that its creator chose; absent if it chose none. */
  readonly label?: string
  /** The session that started it; absent for a root. */
  readonly parent?: string
  /** The runner; absent for a run that no runner works in. */
  readonly runner?: string
  /** Whether it is running, and how it ended. */
  readonly state: SessionState
  /** ISO time. */
  readonly createdAt: string
  /** ISO time; absent while it is running. */
  readonly endedAt?: string
}

/** A session with its task and outcome. */
export interface SessionEntry extends SessionBrief {
  /** The first of its ancestors; its own id for a root. */
  readonly root: string
  /** The principal that it belongs to; absent for the owner of the hub. */
  readonly principal?: string
  /** What it was started for; absent for a run. */
  readonly task?: string
  /** Why it ended, if that is not obvious. */
  readonly reason?: string
  /** What its runner returned; absent before, and when it failed. */
  readonly result?: string
  /** Whether it has read untrusted content. */
  readonly isTainted: boolean
}

/** Sessions, newest first. */
export interface SessionPage<S = SessionBrief> {
  /** The sessions, newest first. */
  readonly sessions: readonly S[]
  /** `before` of the next page; absent when there is none. */
  readonly next?: string
}

/** Which sessions. */
export interface SessionListing {
  /** Only those in this state. Default: all. */
  readonly state?: SessionState
  /** `next` of an earlier page. */
  readonly before?: string
  /** Maximum number of sessions. Default: 50. */
  readonly limit?: number
}

/** One entry in the history of a session. */
export type HistoryEntry =
  | {
      readonly type: 'call'
      /** ISO time of its end. */
      readonly at: string
      /** Id of the call, as the records name it. */
      readonly callId: string
      /** Canonical name of the tool. */
      readonly tool: string
      /** How the call ended: `ok`, or the kind of failure. */
      readonly status: string
      /** What it did, in one line. */
      readonly summary: string
      /** Whether it read untrusted content. */
      readonly isUntrusted: boolean
    }
  | { readonly type: 'message'; readonly at: string; readonly message: SessionMessage }

/** A page of the history of a session, oldest entry first. */
export interface HistoryPage {
  /** Id of the session. */
  readonly session: string
  /** Calls and messages, oldest first. */
  readonly entries: readonly HistoryEntry[]
  /** `before` of the page of what came earlier; absent at the beginning. */
  readonly earlier?: string
  /** `after` of what comes later. */
  readonly later: string
}

/** Which page of a history. Default: the newest. */
export interface HistoryWish {
  /** Maximum number of entries. Default: 50. */
  readonly limit?: number
  /** `earlier` of another page: what came before it. */
  readonly before?: string
  /** `later` of another page: what came after it. */
  readonly after?: string
}

/** A message that is to be sent. */
export interface SendWish {
  /** What to say. */
  readonly text: string
  /** Id of the message that it answers. Default: none. */
  readonly replyTo?: string
  /** How long to wait for an answer. Default: 0, does not wait. */
  readonly waitMs?: number
}

/** The outcome of sending a message. The message is stored whatever the status is. */
export interface SendOutcome {
  /** Id of the message. */
  readonly message: string
  /** The session that receives it. */
  readonly session: string
  /** `ended`: the session was over before it answered. */
  readonly status: 'sent' | 'replied' | 'timeout' | 'ended'
  /** The answer, if it arrived in time. */
  readonly reply?: SessionMessage
  /** State of the session that receives it. */
  readonly state: SessionState
  /** Why that session ended, if it has. */
  readonly reason?: string
}

/** A session to start. */
export interface SpawnWish {
  /** The task for the runner. */
  readonly task: string
  /** A name to find it by: letters, digits, `.`, `_` and `-`, at most 40. Default: none. */
  readonly label?: string
  /** Name of the runner. Default: `default`. */
  readonly runner?: string
  /** Its limits; they cannot exceed those of its creator and its runner. Default: those of the runner. */
  readonly limits?: SessionLimits
  /** How long to wait for its end. Default: 0, does not wait. */
  readonly waitMs?: number
}

/** The status of a session. */
export interface SessionStatus {
  /** The session. */
  readonly session: SessionEntry
  /** Its usage and its limits, if they are counted. */
  readonly budget?: { readonly used: Readonly<Required<SessionLimits>>; readonly limits: SessionLimits }
  /** Sessions that it started. */
  readonly children: readonly SessionBrief[]
  /** Messages of the inbox, now marked as read; only for the caller's own session. */
  readonly messages: readonly SessionMessage[]
  /** Number of messages that are still unread. */
  readonly unread: number
}

/** A runner that agents may name. */
export interface RunnerBrief {
  /** The name in `sessions.runners`. */
  readonly name: string
  /** What it is good for; absent if the owner gives none. */
  readonly description?: string
}

/** The handle of a tool that declares the capability. */
export type SessionHandle = {
  /** Sessions that the agent sees, with its own id and the runners it may name. */
  list(wish: SessionListing): Promise<SessionPage & { readonly own: string; readonly runners: readonly RunnerBrief[] }>
  /** What happened in a session that the agent sees; throws `NOT_FOUND` for others. */
  history(session: string, wish: HistoryWish): Promise<HistoryPage>
  /** Sends a message to another session, and waits for its answer if `waitMs` says so. */
  send(session: string, wish: SendWish): Promise<SendOutcome>
  /** Starts a session with at most the rights of this one, and waits for its end if `waitMs` says so. */
  spawn(wish: SpawnWish): Promise<SessionEntry>
  /** The status of a session. Default: the caller's own. */
  status(session?: string): Promise<SessionStatus>
}

/** What the owner of a hub uses: every session of every process with its store, and every run in the index. */
export type SessionService = {
  /** All sessions, newest first. */
  list(
    wish?: SessionListing & {
      /** Only those that work for this principal. Default: all. */
      readonly principal?: string
    },
  ): Promise<SessionPage<SessionEntry>>
  /** Finds a session by id or label; throws `NOT_FOUND` if there is none. */
  find(session: string): Promise<SessionStatus>
  /** What happened in a session, by id or label. */
  history(session: string, wish?: HistoryWish): Promise<HistoryPage>
  /** Sends a message to a session as the owner, and waits for its answer if `waitMs` says so. */
  send(session: string, wish: SendWish & { readonly by: string }): Promise<SendOutcome>
  /** Starts a session without a parent. */
  spawn(wish: SpawnWish & { readonly by: string }): Promise<SessionEntry>
  /** Ends a session and all its children; returns false if it was over already. */
  end(session: string, how: { readonly by: string; readonly reason?: string }): Promise<boolean>
  /** The runners that the options name. */
  runners(): Promise<readonly RunnerBrief[]>
}
