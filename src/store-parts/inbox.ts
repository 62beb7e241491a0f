import type { Awaitable } from '../store.ts'

/** How much a message of the inbox matters. */
export const INBOX_LEVELS = ['info', 'warning', 'error'] as const

/** One of the levels. */
export type InboxLevel = (typeof INBOX_LEVELS)[number]

/** What agents told the people at the console. */
export interface InboxStore {
  /** Keeps a message; when there are more than `most`, the oldest ones go. */
  add(message: StoredMessage, most: number): Awaitable<void>
  /** Puts other words into a message of this run; whether there is one. It is unread again, and once untrusted stays so. */
  edit(id: string, run: string, words: EditedWords, at: number): Awaitable<boolean>
  /** Newest first; `before` is the id of the last one of the page before. */
  list(filter: { unread?: boolean; before?: string; limit: number }): Awaitable<readonly StoredMessage[]>
  /** How many messages nobody has marked as read. */
  countUnread(): Awaitable<number>
  /** Tells how many of them were unread. Without ids, all are meant. */
  markRead(ids: readonly string[] | undefined, at: number): Awaitable<number>
  /** Whether there was one with this id. */
  remove(id: string): Awaitable<boolean>
}

/** What a message says. */
export interface InboxWords {
  /** How much it matters. */
  readonly level: InboxLevel
  /** One line; absent when the sender gave none. */
  readonly title?: string
  /** Markdown or plain text, without secrets. */
  readonly text: string
}

/** Other words for a message. */
export interface EditedWords extends InboxWords {
  /** Its run has read content from outside by now. */
  readonly isUntrusted: boolean
}

/** A message as it is kept; ids grow with time. */
export interface StoredMessage extends InboxWords {
  /** Grows with time; `before` of the next page. */
  readonly id: string
  /** When it was sent, in milliseconds since 1970. */
  readonly at: number
  /** Who sent it, as the caller said. */
  readonly caller: string
  /** Who sent it for certain, where that is known. */
  readonly principal?: string
  /** Run of the call that sent it. */
  readonly run: string
  /** Id of the call that sent it. */
  readonly callId: string
  /** Its run had read content from outside. */
  readonly isUntrusted: boolean
  /** Artifacts of its run. */
  readonly attachments: readonly { readonly ref: string; readonly name: string; readonly bytes: number }[]
  /** When it was last changed; absent when it was not. */
  readonly editedAt?: number
  /** When somebody marked it as read; absent before. */
  readonly readAt?: number
}
