import { z } from 'zod'
import { SESSION_STATES } from './store-types.ts'

/** A session in a list. */
export const agentBrief = z.object({
  /** Also the run of its calls. */
  id: z.string(),
  /** The name that its creator chose; absent if it chose none. */
  label: z.string().optional(),
  /** The session that started it; absent for a root. */
  parent: z.string().optional(),
  /** The runner; absent for a run that no runner works in. */
  runner: z.string().optional(),
  /** Whether it is running, and how it ended. */
  state: z.enum(SESSION_STATES),
  /** ISO time. */
  createdAt: z.string(),
  /** ISO time; absent while it is running. */
  endedAt: z.string().optional(),
})

/** A session with its task and outcome. */
export const agentEntry = agentBrief.extend({
  /** The first of its ancestors; its own id for a root. */
  root: z.string(),
  /** The principal that it belongs to; absent for the owner of the hub. */
  principal: z.string().optional(),
  /** What it was started for; absent for a run. */
  task: z.string().optional(),
  /** Why it ended, if that is not obvious. */
  reason: z.string().optional(),
  /** What its runner returned; absent before, and when it failed. */
  result: z.string().optional(),
  /** Whether it has read untrusted content. */
  isTainted: z.boolean(),
})

/** A runner that agents may name. */
export const agentRunner = z.object({
  /** The name in `sessions.runners`. */
  name: z.string(),
  /** What it is good for; absent if the owner gives none. */
  description: z.string().optional(),
})

/** `GET /v1/agents`; `before` is the `next` of an earlier page, `principal` the principal that they work for. */
export const agentQuery = z.object({
  /** Only sessions that work for this principal. */
  principal: z.string().max(500).optional(),
  /** Only sessions in this state. */
  state: z.enum(SESSION_STATES).optional(),
  /** `next` of the page before. */
  before: z.string().max(200).optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
})
export const agentList = z.object({
  /** Newest first. */
  agents: z.array(agentEntry),
  /** `before` of the next page; absent on the last one. */
  next: z.string().optional(),
  /** The runners that can be used for a new session. */
  runners: z.array(agentRunner),
})

/** A message from one session to another. */
export const agentMessage = z.object({
  /** Answer with this id as `replyTo`. */
  id: z.string(),
  /** The session that wrote it; `owner` for the owner of the hub. */
  from: z.string(),
  /** The session that receives it. */
  to: z.string(),
  /** What it says. */
  text: z.string(),
  /** Id of the message that it answers; absent for a new one. */
  replyTo: z.string().optional(),
  /** Whether its sender has read untrusted content. */
  isUntrusted: z.boolean(),
  /** ISO time. */
  sentAt: z.string(),
})

const usage = z.object({ calls: z.number(), wallMs: z.number(), cost: z.number() })

/** `GET /v1/agents/{id}`: the status of a session. */
export const agentStatus = z.object({
  /** The session. */
  session: agentEntry,
  /** Its usage and its limits, if they are counted. */
  budget: z.object({ used: usage, limits: usage.partial() }).optional(),
  /** Sessions that it started. */
  children: z.array(agentBrief),
  /** Messages of the inbox, now marked as read; only for the caller's own session. */
  messages: z.array(agentMessage),
  /** Number of messages that are still unread. */
  unread: z.number(),
})

/** `GET /v1/agents/{id}/history`: the newest page unless `before` or `after` is set. */
export const agentHistoryQuery = z.object({
  /** `earlier` of a page: entries before that one. */
  before: z.string().max(100).optional(),
  /** `later` of a page: entries after that one. */
  after: z.string().max(100).optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
})
/** One entry in the history of a session. */
export const agentHistoryEntry = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('call'),
    /** ISO time of its end. */
    at: z.string(),
    /** Id of the call, as the records name it. */
    callId: z.string(),
    /** Canonical name of the tool. */
    tool: z.string(),
    /** How the call ended: `ok`, or the kind of failure. */
    status: z.string(),
    /** What it did, in one line. */
    summary: z.string(),
    /** Whether it read untrusted content. */
    isUntrusted: z.boolean(),
  }),
  z.object({ type: z.literal('message'), at: z.string(), message: agentMessage }),
])

/** A page of the history of a session, oldest entry first. */
export const agentHistory = z.object({
  /** Id of the session. */
  session: z.string(),
  /** Calls and messages, oldest first. */
  entries: z.array(agentHistoryEntry),
  /** `before` of the page of what came earlier; absent at the beginning. */
  earlier: z.string().optional(),
  /** `after` of what comes later. */
  later: z.string(),
})

/** Body of `POST /v1/agents`: a session to start. */
export const newAgent = z.strictObject({
  /** The task for the runner. */
  task: z.string().min(1).max(20_000),
  /** A name to find it by: letters, digits, `.`, `_` and `-`, at most 40. Default: none. */
  label: z.string().max(40).optional(),
  /** Name of the runner. Default: `default`. */
  runner: z.string().max(64).optional(),
  /** Its limits; they cannot exceed those of its creator and its runner. Default: those of the runner. */
  limits: z
    .strictObject({ calls: z.int().min(1), wallMs: z.number().positive(), cost: z.number().min(0) })
    .partial()
    .optional(),
})

/** Body of `POST /v1/agents/{id}/messages`; with `waitMs`, the answer waits for a reply. */
export const newAgentMessage = z.strictObject({
  /** What to say. */
  text: z.string().min(1).max(20_000),
  /** Id of the message that it answers. Default: none. */
  replyTo: z.string().max(100).optional(),
  /** How long to wait for an answer. Default: 0, does not wait. */
  waitMs: z.int().min(0).max(60_000).optional(),
})

/** The outcome of sending a message. The message is stored whatever the status is. */
export const agentMessageOutcome = z.object({
  /** Id of the message. */
  message: z.string(),
  /** The session that receives it. */
  session: z.string(),
  /** `ended`: the session was over before it answered. */
  status: z.enum(['sent', 'replied', 'timeout', 'ended']),
  /** The answer, if it arrived in time. */
  reply: agentMessage.optional(),
  /** State of the session that receives it. */
  state: z.enum(SESSION_STATES),
  /** Why that session ended, if it has. */
  reason: z.string().optional(),
})

/** Body of `POST /v1/agents/{id}/end`. */
export const endAgent = z.strictObject({ reason: z.string().max(500).optional() })
export const agentEnded = z.object({ ended: z.boolean() })
