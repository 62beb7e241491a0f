import type { Awaitable } from '@tool-hub/core'
import { column, defineTable, optional, type Row } from '@tool-hub/core/sql'

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

/** A session with its outcome. */
export type StoredSession = Row<typeof SESSIONS>

/** The table of agents' sessions; `sessions` has the sign-ins of people. */
export const SESSIONS = defineTable(
  'agent_sessions',
  9,
  {
    /** Also the run of its calls. */
    id: column.text({ key: true }),
    /** Grows with every session. */
    seq: column.bigint({ unique: true }),
    /** The name that its creator chose. */
    label: optional.text(),
    /** The session that started it; absent for a root. */
    parent: optional.text(),
    /** The first of its ancestors; its own id for a root. */
    root: column.text(),
    /** How many ancestors it has. */
    depth: column.integer(),
    /** The principal that it belongs to; absent for the owner of the hub. */
    principal: optional.text(),
    /** The principal that its root works for; `owner` for the owner of the hub. */
    rootPrincipal: column.text(),
    /** The runner of the session; absent if the caller works in it. */
    runner: optional.text(),
    /** What it was started for. */
    task: optional.text(),
    /** JSON of its limits. */
    limits: optional.text(),
    /** Whether its creator had read untrusted content. */
    isTainted: column.flag({ name: 'tainted' }),
    /** When it started. */
    createdAt: column.bigint(),
    /** The process that it runs in. */
    owner: column.text(),
    /** Whether it is running, and how it ended. */
    state: column.text<SessionState>(),
    /** Why it ended, if that is not obvious. */
    reason: optional.text(),
    /** What its runner returned. */
    result: optional.text(),
    /** When it ended; absent before. */
    endedAt: optional.bigint(),
  },
  {
    indexes: {
      root: ['root', 'seq'],
      parent: ['parent', 'seq'],
      principal: ['rootPrincipal', 'seq'],
      state: ['state', 'seq'],
      end: ['endedAt'],
    },
  },
)

/** A session when it starts. */
export type NewSession = Omit<StoredSession, 'seq' | 'state' | 'reason' | 'result' | 'endedAt'>

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

/** A message between sessions. */
export type StoredMail = Row<typeof MAIL>

/** The table of messages between sessions. */
export const MAIL = defineTable(
  'agent_mail',
  9,
  {
    /** Counts up over all messages. */
    seq: column.bigint({ key: true }),
    /** Unique among all messages. */
    id: column.text(),
    /** The session that receives it. */
    inbox: column.text(),
    /** The session that sent it; `owner` for the owner of the hub. */
    sender: column.text(),
    /** Its text. */
    text: column.text({ name: 'content' }),
    /** Id of the message that it answers. */
    replyTo: optional.text(),
    /** Whether its run had read untrusted content. */
    isTainted: column.flag({ name: 'tainted' }),
    /** When it was sent. */
    sentAt: column.bigint(),
    /** When it was read; absent before. */
    readAt: optional.bigint(),
  },
  {
    indexes: {
      unread: ['inbox', 'readAt', 'seq'],
      inbox: ['inbox', 'seq'],
      sender: ['sender', 'seq'],
      age: ['sentAt'],
    },
  },
)

/** A message to send. */
export type NewMail = Omit<StoredMail, 'seq' | 'readAt'>

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
