import { z } from 'zod'
import { SESSION_STATES } from './store-types.ts'

const agentBrief = z.object({
  id: z.string(),
  label: z.string().optional(),
  parent: z.string().optional(),
  runner: z.string().optional(),
  state: z.enum(SESSION_STATES),
  createdAt: z.string(),
  endedAt: z.string().optional(),
})

/** A session of an agent; its id is also the run of its calls. */
export const agentEntry = agentBrief.extend({
  root: z.string(),
  principal: z.string().optional(),
  task: z.string().optional(),
  reason: z.string().optional(),
  result: z.string().optional(),
  isTainted: z.boolean(),
})
export type AgentEntry = z.infer<typeof agentEntry>

/** `GET /v1/agents`; `before` is the `next` of an earlier page, `principal` the principal that they work for. */
export const agentQuery = z.object({
  principal: z.string().max(500).optional(),
  state: z.enum(SESSION_STATES).optional(),
  before: z.string().max(200).optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
})
export const agentList = z.object({
  agents: z.array(agentEntry),
  next: z.string().optional(),
  /** The runners that can be used for a new session. */
  runners: z.array(z.object({ name: z.string(), description: z.string().optional() })),
})

export const agentMessage = z.object({
  id: z.string(),
  from: z.string(),
  to: z.string(),
  text: z.string(),
  replyTo: z.string().optional(),
  isUntrusted: z.boolean(),
  sentAt: z.string(),
})
export type AgentMessage = z.infer<typeof agentMessage>

const usage = z.object({ calls: z.number(), wallMs: z.number(), cost: z.number() })

/** `GET /v1/agents/{id}`. */
export const agentStatus = z.object({
  session: agentEntry,
  budget: z.object({ used: usage, limits: usage.partial() }).optional(),
  children: z.array(agentBrief),
  messages: z.array(agentMessage),
  unread: z.number(),
})
export type AgentStatus = z.infer<typeof agentStatus>

/** `GET /v1/agents/{id}/history`: the newest page unless `before` or `after` is set. */
export const agentHistoryQuery = z.object({
  before: z.string().max(100).optional(),
  after: z.string().max(100).optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
})
export const agentHistory = z.object({
  session: z.string(),
  entries: z.array(
    z.discriminatedUnion('type', [
      z.object({
        type: z.literal('call'),
        at: z.string(),
        callId: z.string(),
        tool: z.string(),
        status: z.string(),
        summary: z.string(),
        isUntrusted: z.boolean(),
      }),
      z.object({ type: z.literal('message'), at: z.string(), message: agentMessage }),
    ]),
  ),
  earlier: z.string().optional(),
  later: z.string(),
})
export type AgentHistory = z.infer<typeof agentHistory>

/** Body of `POST /v1/agents`. */
export const newAgent = z.strictObject({
  task: z.string().min(1).max(20_000),
  label: z.string().max(40).optional(),
  runner: z.string().max(64).optional(),
  limits: z
    .strictObject({ calls: z.int().min(1), wallMs: z.number().positive(), cost: z.number().min(0) })
    .partial()
    .optional(),
})

/** Body of `POST /v1/agents/{id}/messages`; with `waitMs`, the answer waits for a reply. */
export const newAgentMessage = z.strictObject({
  text: z.string().min(1).max(20_000),
  replyTo: z.string().max(100).optional(),
  waitMs: z.int().min(0).max(60_000).optional(),
})
export const agentMessageOutcome = z.object({
  message: z.string(),
  session: z.string(),
  status: z.enum(['sent', 'replied', 'timeout', 'ended']),
  reply: agentMessage.optional(),
  state: z.enum(SESSION_STATES),
  reason: z.string().optional(),
})

/** Body of `POST /v1/agents/{id}/end`. */
export const endAgent = z.strictObject({ reason: z.string().max(500).optional() })
export const agentEnded = z.object({ ended: z.boolean() })
