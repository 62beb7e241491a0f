import type { Awaitable } from '@tool-hub/core'

/** The states of a session: it is running, it has ended, or its runner has died. */
export const SESSION_STATES = ['running', 'ended', 'failed'] as const

/** One of the states. */
export type SessionState = (typeof SESSION_STATES)[number]

/** Sessions of agents, each known by its run. */
export interface SessionStore {
  /** Adds a session and returns its number; `undefined` if its id exists, or if `maxRunning` sessions of its root are running. */
  add(session: NewSession, limit?: { readonly maxRunning: number }): Awaitable<number | undefined>
  /** A session by its id; `undefined` if there is none. */
  find(id: string): Awaitable<StoredSession | undefined>
  /** Newest first. */
  list(filter: SessionFilter): Awaitable<readonly StoredSession[]>
  /** Ends a running session; false if it is not running, so that the first end stays. */
  end(id: string, end: SessionEnd): Awaitable<boolean>
  /** Continues a session without a runner in the process of this owner. */
  reopen(id: string, owner: string): Awaitable<void>
  /** Records that the session has read untrusted content. */
  taint(id: string): Awaitable<void>
}

/** A session when it starts. */
export interface NewSession {
  /** Also the run of its calls. */
  readonly id: string
  /** The name that its creator chose. */
  readonly label?: string
  /** The session that started it; absent for a root. */
  readonly parent?: string
  /** The first of its ancestors; its own id for a root. */
  readonly root: string
  /** How many ancestors it has. */
  readonly depth: number
  /** The principal that it belongs to; absent for the owner of the hub. */
  readonly principal?: string
  /** The principal that its root works for; `owner` for the owner of the hub. */
  readonly rootPrincipal: string
  /** The runner of the session; absent if the caller works in it. */
  readonly runner?: string
  /** What it was started for. */
  readonly task?: string
  /** JSON of its limits. */
  readonly limits?: string
  /** Whether its creator had read untrusted content. */
  readonly isTainted: boolean
  /** When it started. */
  readonly createdAt: number
  /** The process that it runs in. */
  readonly owner: string
}

/** A session with its outcome. */
export interface StoredSession extends NewSession {
  /** Grows with every session. */
  readonly seq: number
  /** Whether it is running, and how it ended. */
  readonly state: SessionState
  /** Why it ended, if that is not obvious. */
  readonly reason?: string
  /** What its runner returned. */
  readonly result?: string
  /** When it ended; absent before. */
  readonly endedAt?: number
}

export interface SessionEnd {
  /** Whether it ended, or its runner died. */
  readonly state: 'ended' | 'failed'
  /** Why, if that is not obvious. */
  readonly reason?: string
  /** What its runner returned. */
  readonly result?: string
  /** Whether it has read untrusted content. */
  readonly isTainted?: boolean
  /** When it ended. */
  readonly at: number
}

export interface SessionFilter {
  /** Only those of this root. */
  readonly root?: string
  /** Only those that this session started. */
  readonly parent?: string
  /** Only those with this label. */
  readonly label?: string
  /** Only those whose root belongs to this principal. */
  readonly rootPrincipal?: string
  /** Only those in this state. */
  readonly state?: SessionState
  /** Only those with a smaller `seq`. */
  readonly before?: number
  /** Only those that started before this time. */
  readonly createdBefore?: number
  /** Maximum number of sessions. */
  readonly limit?: number
}

/** Messages between sessions. */
export interface MailStore {
  /** Adds a message and returns its number; `undefined` if `maxUnread` messages are unread in its inbox. */
  put(message: NewMail, limit: { readonly maxUnread: number }): Awaitable<number | undefined>
  /** Returns the oldest unread messages and marks them as read: each is returned once. */
  take(inbox: string, wanted: MailQuery): Awaitable<readonly StoredMail[]>
  /** The number of unread messages in the inbox of a session. */
  unread(inbox: string): Awaitable<number>
  /** Messages that a session sent or received: the oldest `after` a number, or the newest `before` one; oldest first. */
  list(filter: MailFilter): Awaitable<readonly StoredMail[]>
}

export interface NewMail {
  /** Unique among all messages. */
  readonly id: string
  /** The session that receives it. */
  readonly inbox: string
  /** The session that sent it; `owner` for the owner of the hub. */
  readonly sender: string
  /** Its text. */
  readonly text: string
  /** Id of the message that it answers. */
  readonly replyTo?: string
  /** Whether its run had read untrusted content. */
  readonly isTainted: boolean
  /** When it was sent. */
  readonly sentAt: number
}

export interface StoredMail extends NewMail {
  /** Counts up over all messages. */
  readonly seq: number
  /** When it was read; absent before. */
  readonly readAt?: number
}

export interface MailQuery {
  /** Maximum number of messages. */
  readonly limit: number
  /** The time of reading. */
  readonly now: number
  /** Only answers to this message: from its recipient, after it, and not to another message. */
  readonly answerTo?: { readonly id: string; readonly seq: number; readonly from: string }
}

export interface MailFilter {
  /** The session that sent or received them. */
  readonly session: string
  /** Only messages with a smaller `seq`, the newest of them. */
  readonly before?: number
  /** Only messages with a larger `seq`, the oldest of them. */
  readonly after?: number
  /** Maximum number of messages. */
  readonly limit: number
}

/** How long a session that has ended is kept, and its messages. */
export const SESSION_AGE_MS = 30 * 86_400_000
