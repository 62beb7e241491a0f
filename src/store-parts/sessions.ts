import type { Awaitable } from '../store.ts'

/** How a session is: it goes on, it has come to its end, or its runner has died. */
export const SESSION_STATES = ['running', 'ended', 'failed'] as const

/** One of the states. */
export type SessionState = (typeof SESSION_STATES)[number]

/** Sessions of agents, each known by its run. */
export interface SessionStore {
  /** Keeps a new one and gives its number; undefined when there is one of this id, or when `mostRunning` of its root go on already. */
  add(session: NewSession, limit?: { readonly mostRunning: number }): Awaitable<number | undefined>
  /** A session by its id; `undefined` if there is none. */
  find(id: string): Awaitable<StoredSession | undefined>
  /** Newest first. */
  list(filter: SessionFilter): Awaitable<readonly StoredSession[]>
  /** Ends one that goes on; false when it does not, so that the first end stays. */
  end(id: string, end: SessionEnd): Awaitable<boolean>
  /** A session without a runner goes on again, in the process of this owner. */
  reopen(id: string, owner: string): Awaitable<void>
  /** It has read content from outside. */
  taint(id: string): Awaitable<void>
}

/** A session as it begins. */
export interface NewSession {
  /** Also the run of its calls. */
  readonly id: string
  /** The name that its maker chose for it. */
  readonly label?: string
  /** The session that began it; none for a root. */
  readonly parent?: string
  /** The session that all those above it came from; its own id for a root. */
  readonly root: string
  /** How many lie above it. */
  readonly depth: number
  /** Whose it is; the hub's own owner's without. */
  readonly principal?: string
  /** The principal that everything of its root is done for; `owner` for the hub's own. */
  readonly rootPrincipal: string
  /** Without one it is a run that somebody else works in. */
  readonly runner?: string
  /** What it was begun for. */
  readonly task?: string
  /** JSON of what it may use. */
  readonly limits?: string
  /** Its maker had read content from outside. */
  readonly isTainted: boolean
  /** When it began. */
  readonly createdAt: number
  /** The process that it lives in. */
  readonly owner: string
}

/** A session with what has become of it. */
export interface StoredSession extends NewSession {
  /** Counts up with every one that is kept. */
  readonly seq: number
  /** Whether it continues, and how it ended. */
  readonly state: SessionState
  /** Why it is over, where that is not plain. */
  readonly reason?: string
  /** What its runner returned. */
  readonly result?: string
  /** When it was over; absent before. */
  readonly endedAt?: number
}

export interface SessionEnd {
  /** Whether it came to its end, or its runner died. */
  readonly state: 'ended' | 'failed'
  /** Why, where that is not plain. */
  readonly reason?: string
  /** What its runner returned. */
  readonly result?: string
  /** It has read content from outside. */
  readonly isTainted?: boolean
  /** When it was over. */
  readonly at: number
}

export interface SessionFilter {
  /** Only those of this root. */
  readonly root?: string
  /** Only those that this session began. */
  readonly parent?: string
  /** Only those with this label. */
  readonly label?: string
  /** Only those whose root belongs to this principal. */
  readonly rootPrincipal?: string
  /** Only those in this state. */
  readonly state?: SessionState
  /** Those with a smaller number. */
  readonly before?: number
  /** Those that began before. */
  readonly createdBefore?: number
  /** Most sessions of the page. */
  readonly limit?: number
}

/** What sessions write to each other. */
export interface MailStore {
  /** Keeps a message and gives its number; undefined when so many wait in its inbox unread. */
  put(message: NewMail, limit: { readonly mostUnread: number }): Awaitable<number | undefined>
  /** The oldest unread ones, which are read from then on: each is given to one taker only. */
  take(inbox: string, wanted: MailWish): Awaitable<readonly StoredMail[]>
  /** How many messages wait in the inbox of a session. */
  unread(inbox: string): Awaitable<number>
  /** What a session wrote or got: the oldest `after` a number, or the newest `before` one; oldest first. */
  list(filter: MailFilter): Awaitable<readonly StoredMail[]>
}

export interface NewMail {
  /** Unique among all messages. */
  readonly id: string
  /** The session that gets it. */
  readonly inbox: string
  /** The session that wrote it; `owner` for the owner of the hub. */
  readonly sender: string
  /** What it says. */
  readonly text: string
  /** Id of the message that it answers. */
  readonly replyTo?: string
  /** It comes from a run that has read content from outside. */
  readonly isTainted: boolean
  /** When it was sent. */
  readonly sentAt: number
}

export interface StoredMail extends NewMail {
  /** Counts up over all messages. */
  readonly seq: number
  /** When it was taken; absent before. */
  readonly readAt?: number
}

export interface MailWish {
  /** Most messages to take. */
  readonly limit: number
  /** The time at which they are read. */
  readonly now: number
  /** An answer to this message: from its reader, after it, and to no other one. */
  readonly answerTo?: { readonly id: string; readonly seq: number; readonly from: string }
}

export interface MailFilter {
  /** The session that wrote or got them. */
  readonly session: string
  /** Only messages with a smaller `seq`, the newest of them. */
  readonly before?: number
  /** Only messages with a larger `seq`, the oldest of them. */
  readonly after?: number
  /** Most messages of the page. */
  readonly limit: number
}

/** How long it is known what became of a session that is over, and what was written in it. */
export const SESSION_AGE_MS = 30 * 86_400_000
