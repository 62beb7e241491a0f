import type { Awaitable } from '@tool-hub/core'
import type { Immutable } from '@tool-hub/core/lib'
import type { z } from 'zod'
import type { Channel, ChannelOptions, InboxLevel, SentRequest } from './channel.ts'
import type { channelEntry, inboxMessage } from './schema.ts'

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
export type ChannelFacts = Immutable<z.infer<typeof channelEntry>>

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
export type InboxMessage = Immutable<z.infer<typeof inboxMessage>>

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
  add(message: InboxMessage, most: number): Awaitable<void>
  /** Changes a message of this run; whether it exists. It is unread again, and stays untrusted if it was. */
  edit(id: string, run: string, words: InboxEdit, at: number): Awaitable<boolean>
  /** Newest first; `before` is the last id of the previous page. */
  list(filter: { unread?: boolean; before?: string; limit: number }): Awaitable<readonly InboxMessage[]>
  /** How many messages nobody has marked as read. */
  countUnread(): Awaitable<number>
  /** Marks messages as read, all of them without ids; returns how many were unread. */
  markRead(ids: readonly string[] | undefined, at: number): Awaitable<number>
  /** Whether there was one with this id. */
  remove(id: string): Awaitable<boolean>
}

/** New content for a message; `isUntrusted` says whether its run has read untrusted content by now. */
export type InboxEdit = Pick<InboxMessage, 'level' | 'title' | 'text' | 'isUntrusted'>
