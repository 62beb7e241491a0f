import type { Awaitable } from '../../core/index.ts'
import type { Channel, ChannelOptions, InboxLevel, SentRequest } from './channel.ts'

/** The owner's options for messages. */
export interface MessagesOptions {
  /** Channels by name (lowercase letters, digits, `_` and `-`); `console` always exists. */
  readonly channels?: Readonly<Record<string, ChannelOptions | Channel>>
}

/** A message to send. */
export interface NewMessage {
  /** Name of the channel, as `channels()` lists it. */
  readonly channel: string
  /** Recipients, as far as the channel allows them. Default: the usual ones of the channel. */
  readonly to?: readonly string[]
  /** One line. Default: none. */
  readonly title?: string
  /** Markdown or plain text; refused if it is longer than the channel allows, never cut. */
  readonly text: string
  /** Default: `info`. */
  readonly level?: InboxLevel
  /** Artifacts of the run to attach, by reference. Default: none. */
  readonly attachments?: readonly { readonly ref: string; readonly name?: string }[]
}

/** A reaction to a message. */
export interface NewReaction {
  /** Name of the channel that the message was sent by. */
  readonly channel: string
  /** Recipients of the message, for a channel with more than one. Default: the usual ones. */
  readonly to?: readonly string[]
  /** The `messageId` that sending returned. */
  readonly messageId: string
  /** The emoji itself, or its name, as the channel expects it. */
  readonly emoji: string
}

/** The outcome of sending. */
export interface MessageOutcome {
  /** Name of the channel. */
  readonly channel: string
  /** What the channel is: `slack`, `smtp`. */
  readonly kind: string
  /** Its targets for policy: `mail/anna@example.org`. */
  readonly targets: readonly string[]
  /** Id to edit it, or to react to it; absent if the channel has no ids. */
  readonly messageId?: string
  /** Recipients that were refused, while others were accepted. */
  readonly rejected?: readonly string[]
  /** Only in a dry run: what would have been sent. */
  readonly request?: SentRequest
}

/** A channel as people and models see it. */
export interface ChannelFacts {
  /** Name of the channel. */
  readonly name: string
  /** What it is: `slack`, `smtp`. */
  readonly kind: string
  /** Who receives the messages, in one sentence. */
  readonly description: string
  /** What the channel can do. */
  readonly can: readonly ('send' | 'edit' | 'react' | 'attach')[]
  /** Recipients that a message may name; absent if it can name none. */
  readonly recipients?: string
  /** Maximum characters of a text; absent if the channel has no limit of its own. */
  readonly maxChars?: number
  /** Why it does not work, and what to configure; absent if it works. */
  readonly problem?: string
}

/** Options for trying without sending. */
export interface MessageTry {
  /** Sends nothing, and returns what would be sent. Default: `false`. */
  readonly dryRun?: boolean
}

/** `ctx.messages` of tools with the capability `message`. */
export interface MessageHandle {
  /** The channels of the hub and what each can do. */
  channels(): Promise<readonly ChannelFacts[]>
  /** Sends a message; throws if no recipient accepted it. */
  send(message: NewMessage, how?: MessageTry): Promise<MessageOutcome>
  /** Replaces a message that was sent; throws if the channel cannot. */
  edit(messageId: string, message: NewMessage, how?: MessageTry): Promise<MessageOutcome>
  /** Adds a reaction to a message; throws if the channel cannot. */
  react(reaction: NewReaction, how?: MessageTry): Promise<MessageOutcome>
}

/** A message of the inbox, as the owner reads it. */
export type InboxMessage = StoredMessage

/** `hub.messages`, for the owner of the hub. */
export interface MessageService {
  /** The channels of the hub, with their problems. */
  channels(): Promise<readonly ChannelFacts[]>
  /** Sends as the owner: policy does not apply, limits do. Attachments are artifacts of `run`. */
  send(
    message: NewMessage,
    options: { readonly by: string; readonly run?: string } & MessageTry,
  ): Promise<MessageOutcome>
  /** Newest first; `next` is the `before` of the next page. */
  inbox(filter?: {
    /** Only messages that nobody has marked as read. Default: all. */
    readonly unread?: boolean
    /** `next` of an earlier page. Default: the newest messages. */
    readonly before?: string
    /** Maximum messages of a page. Default: 100; at most 1,000. */
    readonly limit?: number
  }): Promise<{ readonly messages: readonly InboxMessage[]; readonly unread: number; readonly next?: string }>
  /** Marks messages as read, all of them without ids; returns how many were unread. */
  markRead(ids?: readonly string[]): Promise<number>
  /** Deletes a message of the inbox; `false` if there is none. */
  remove(id: string): Promise<boolean>
}

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
