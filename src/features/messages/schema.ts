import { z } from 'zod'
import { INBOX_LEVELS } from './channel.ts'

/** A message of an agent to the people at the console. */
export const inboxMessage = z.object({
  id: z.string(),
  at: z.number(),
  level: z.enum(INBOX_LEVELS),
  title: z.string().optional(),
  text: z.string(),
  caller: z.string(),
  principal: z.string().optional(),
  run: z.string(),
  callId: z.string(),
  /** Its run had read untrusted content, so the message may contain it. */
  isUntrusted: z.boolean(),
  /** At `/v1/artifacts/{sha256}?run={run}`. */
  attachments: z.array(z.object({ ref: z.string(), name: z.string(), bytes: z.number() })),
  editedAt: z.number().optional(),
  readAt: z.number().optional(),
})
export type InboxMessageEntry = z.infer<typeof inboxMessage>

/** `GET /v1/inbox`: newest first; `next` is the `before` of the next page. */
export const inboxPage = z.object({
  messages: z.array(inboxMessage),
  /** Number of unread messages in the inbox. */
  unread: z.number(),
  next: z.string().optional(),
})
export type InboxPage = z.infer<typeof inboxPage>

export const inboxQuery = z.object({
  unread: z.enum(['true', 'false']).optional(),
  before: z.string().max(100).optional(),
  limit: z.coerce.number().int().min(1).max(500).default(100),
})

/** Body of `POST /v1/inbox/read`; without ids, all are read. */
export const readMessages = z.strictObject({ ids: z.array(z.string().max(100)).max(1_000).optional() })
export const readOutcome = z.object({ read: z.number(), unread: z.number() })

/** A channel to people. */
export const channelEntry = z.object({
  name: z.string(),
  kind: z.string(),
  description: z.string(),
  can: z.array(z.enum(['send', 'edit', 'react', 'attach'])),
  recipients: z.string().optional(),
  maxChars: z.number().optional(),
  /** Why it does not work, and what to configure. */
  problem: z.string().optional(),
})
export type ChannelEntry = z.infer<typeof channelEntry>

/** `GET /v1/channels` */
export const channelList = z.object({ channels: z.array(channelEntry) })
