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
  countUnread(): Awaitable<number>
  /** Tells how many of them were unread. Without ids, all are meant. */
  markRead(ids: readonly string[] | undefined, at: number): Awaitable<number>
  remove(id: string): Awaitable<boolean>
}

/** What a message says. */
export interface InboxWords {
  readonly level: InboxLevel
  readonly title?: string
  readonly text: string
}

/** Other words for a message. */
export interface EditedWords extends InboxWords {
  /** Its run has read content from outside by now. */
  readonly isUntrusted: boolean
}

/** A message as it is kept; ids grow with time. */
export interface StoredMessage extends InboxWords {
  readonly id: string
  readonly at: number
  readonly caller: string
  readonly principal?: string
  readonly run: string
  readonly callId: string
  /** Its run had read content from outside. */
  readonly isUntrusted: boolean
  /** Artifacts of its run. */
  readonly attachments: readonly { readonly ref: string; readonly name: string; readonly bytes: number }[]
  readonly editedAt?: number
  readonly readAt?: number
}
