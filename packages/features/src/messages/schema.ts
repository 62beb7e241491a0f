import type { Immutable } from '@tool-hub/core/lib'
import { z } from 'zod'
import { INBOX_LEVELS } from './channel.ts'

/** A message of an agent to the people at the console. */
export const inboxMessage = z.object({
  /** Grows with time; `before` of the next page. */
  id: z.string(),
  /** When it was sent, in milliseconds since 1970. */
  at: z.number(),
  /** Its level. */
  level: z.enum(INBOX_LEVELS),
  /** One line; absent if the sender gave none. */
  title: z.string().optional(),
  /** Markdown or plain text, without secrets. */
  text: z.string(),
  /** The caller that sent it, as it named itself. */
  caller: z.string(),
  /** The authenticated principal, if it is known. */
  principal: z.string().optional(),
  /** Run of the call that sent it. */
  run: z.string(),
  /** Id of the call that sent it. */
  callId: z.string(),
  /** Its run had read untrusted content, so the message may contain it. */
  isUntrusted: z.boolean(),
  /** Artifacts of its run, at `/v1/artifacts/{sha256}?run={run}`. */
  attachments: z.array(z.object({ ref: z.string(), name: z.string(), bytes: z.number() })),
  /** When it was last changed; absent if it was not. */
  editedAt: z.number().optional(),
  /** When it was marked as read; absent before. */
  readAt: z.number().optional(),
})

/** `GET /v1/inbox`: newest first; `next` is the `before` of the next page. */
export const inboxPage = z.object({
  /** Newest first. */
  messages: z.array(inboxMessage),
  /** Number of unread messages in the inbox. */
  unread: z.number(),
  /** `before` of the next page; absent on the last one. */
  next: z.string().optional(),
})
export type InboxPage = Immutable<z.infer<typeof inboxPage>>

export const inboxQuery = z.object({
  /** Whether only unread messages are listed. */
  unread: z.enum(['true', 'false']).optional(),
  /** `next` of the page before. */
  before: z.string().max(100).optional(),
  limit: z.coerce.number().int().min(1).max(500).default(100),
})

/** Body of `POST /v1/inbox/read`; without ids, all are read. */
export const readMessages = z.strictObject({ ids: z.array(z.string().max(100)).max(1_000).optional() })
export const readOutcome = z.object({ read: z.number(), unread: z.number() })

/** A channel as people and models see it. */
export const channelEntry = z.object({
  /** Name of the channel. */
  name: z.string(),
  /** What it is: `slack`, `smtp`. */
  kind: z.string(),
  /** Who receives the messages, in one sentence. */
  description: z.string(),
  /** What the channel can do. */
  can: z.array(z.enum(['send', 'edit', 'react', 'attach'])),
  /** Recipients that a message may name; absent if it can name none. */
  recipients: z.string().optional(),
  /** Maximum characters of a text; absent if the channel has no limit of its own. */
  maxChars: z.number().optional(),
  /** Why it does not work, and what to configure; absent if it works. */
  problem: z.string().optional(),
})

/** `GET /v1/channels` */
export const channelList = z.object({ channels: z.array(channelEntry) })
