import type { Awaitable } from '../../core/index.ts'

/** The levels of a message in the inbox. */
export const INBOX_LEVELS = ['info', 'warning', 'error'] as const

/** One of the levels. */
export type InboxLevel = (typeof INBOX_LEVELS)[number]

/** Messages from agents to the people at the console. */
export interface InboxStore {
  /** Adds a message; if there are more than `most`, the oldest ones are removed. */
  add(message: StoredMessage, most: number): Awaitable<void>
  /** Changes a message of this run; whether it exists. It is unread again, and stays untrusted if it was. */
  edit(id: string, run: string, words: InboxEdit, at: number): Awaitable<boolean>
  /** Newest first; `before` is the last id of the previous page. */
  list(filter: { unread?: boolean; before?: string; limit: number }): Awaitable<readonly StoredMessage[]>
  /** How many messages nobody has marked as read. */
  countUnread(): Awaitable<number>
  /** Marks messages as read, all of them without ids; returns how many were unread. */
  markRead(ids: readonly string[] | undefined, at: number): Awaitable<number>
  /** Whether there was one with this id. */
  remove(id: string): Awaitable<boolean>
}

/** The content of a message. */
export interface InboxContent {
  /** Its level. */
  readonly level: InboxLevel
  /** One line; absent if the sender gave none. */
  readonly title?: string
  /** Markdown or plain text, without secrets. */
  readonly text: string
}

/** New content for a message. */
export interface InboxEdit extends InboxContent {
  /** Whether its run has read untrusted content by now. */
  readonly isUntrusted: boolean
}

/** A message in the store; ids grow with time. */
export interface StoredMessage extends InboxContent {
  /** Grows with time; `before` of the next page. */
  readonly id: string
  /** When it was sent, in milliseconds since 1970. */
  readonly at: number
  /** The caller that sent it, as it named itself. */
  readonly caller: string
  /** The authenticated principal, if it is known. */
  readonly principal?: string
  /** Run of the call that sent it. */
  readonly run: string
  /** Id of the call that sent it. */
  readonly callId: string
  /** Whether its run had read untrusted content. */
  readonly isUntrusted: boolean
  /** Artifacts of its run. */
  readonly attachments: readonly { readonly ref: string; readonly name: string; readonly bytes: number }[]
  /** When it was last changed; absent if it was not. */
  readonly editedAt?: number
  /** When it was marked as read; absent before. */
  readonly readAt?: number
}
