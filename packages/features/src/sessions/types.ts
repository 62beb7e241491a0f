import type { Immutable } from '@tool-hub/core/lib'
import type { z } from 'zod'
import type {
  agentBrief,
  agentEntry,
  agentHistory,
  agentHistoryEntry,
  agentMessage,
  agentMessageOutcome,
  agentRunner,
  agentStatus,
  newAgent,
  newAgentMessage,
} from './schema.ts'
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
export type SessionMessage = Immutable<z.infer<typeof agentMessage>>

/** A session in a list. */
export type SessionBrief = Immutable<z.infer<typeof agentBrief>>

/** A session with its task and outcome. */
export type SessionEntry = Immutable<z.infer<typeof agentEntry>>

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
export type HistoryEntry = Immutable<z.infer<typeof agentHistoryEntry>>

/** A page of the history of a session, oldest entry first. */
export type HistoryPage = Immutable<z.infer<typeof agentHistory>>

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
export type SendWish = Immutable<z.infer<typeof newAgentMessage>>

/** The outcome of sending a message. The message is stored whatever the status is. */
export type SendOutcome = Immutable<z.infer<typeof agentMessageOutcome>>

/** A session to start. `waitMs` is not in the schema because `POST /v1/agents` does not wait for the end of the session. */
export type SpawnWish = Immutable<z.infer<typeof newAgent>> & {
  /** How long to wait for its end. Default: 0, does not wait. */
  readonly waitMs?: number
}

/** The status of a session. */
export type SessionStatus = Immutable<z.infer<typeof agentStatus>>

/** A runner that agents may name. */
export type RunnerBrief = Immutable<z.infer<typeof agentRunner>>

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
  /** Sends a message to a session as the owner, as user text of its run, and waits for its answer if `waitMs` says so. */
  send(session: string, wish: SendWish & { readonly by: string }): Promise<SendOutcome>
  /** Starts a session without a parent. A person wrote its task, so it is user text of its run. */
  spawn(wish: SpawnWish & { readonly by: string }): Promise<SessionEntry>
  /** Ends a session and all its children; returns false if it was over already. */
  end(session: string, how: { readonly by: string; readonly reason?: string }): Promise<boolean>
  /** The runners that the options name. */
  runners(): Promise<readonly RunnerBrief[]>
}
