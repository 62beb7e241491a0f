import { z } from 'zod'
import { approvalAnswer, questionAnswer } from './approvals.ts'
import { callRequest } from './calls.ts'
import { serviceEvent } from './service.ts'

const TYPES = [
  ...(['call', 'run', 'approval', 'question', 'tools-changed', 'policy-changed', 'feature-changed'] as const),
  'presence',
] as const

/** A type of events to watch; `ability-changed` is the old name of `feature-changed`, accepted until the next version. */
const watchedEvent = z.union([z.enum(TYPES), z.literal('ability-changed').transform(() => 'feature-changed' as const)])

/** What a client says over `/v1/ws`. `id` is the client's own name of a call: said again, it is the same call. */
export const clientMessage = z.discriminatedUnion('type', [
  /** The first message. `session` resumes a dropped session; `received` is the last `seq` that arrived. */
  z.strictObject({
    type: z.literal('hello'),
    /** Id of the session to resume. Default: a new one. */
    session: z.string().max(100).optional(),
    /** The last `seq` that arrived. */
    received: z.number().int().min(0).optional(),
  }),
  /** Everything up to `seq` has come; the server forgets it. */
  z.strictObject({ type: z.literal('received'), seq: z.number().int().min(0) }),
  callRequest.extend({
    type: z.literal('call'),
    /** The client's own name of the call. */
    id: z.string().min(1).max(100),
    /** Name of the tool. */
    tool: z.string().max(200),
    /** Also tell what happens on the way. */
    stream: z.boolean().optional(),
  }),
  z.strictObject({ type: z.literal('cancel'), id: z.string().max(100) }),
  /** Tools that the client executes; replaces those it has registered. */
  z.strictObject({
    type: z.literal('tools'),
    /** The id of the outcome. Default: `name`. */
    id: z.string().max(100).optional(),
    /** Name that the tools are registered under. */
    name: z.string().max(64),
    /** Their definitions. */
    tools: z.array(z.record(z.string(), z.unknown())).max(200),
  }),
  /** What the client's execution gave. */
  z.strictObject({
    type: z.literal('answer'),
    /** Id of the call. */
    callId: z.string().max(100),
    /** What the tool returned. */
    data: z.unknown().optional(),
    /** Instead of data: a text or blocks for the model, and `details` for the program alone. */
    content: z.union([z.string(), z.array(z.record(z.string(), z.unknown())).max(1_000)]).optional(),
    /** What only the program gets. */
    details: z.unknown().optional(),
    /** Why it failed, instead of data. */
    error: z.strictObject({ message: z.string().max(10_000) }).optional(),
  }),
  z.strictObject({
    type: z.literal('approve'),
    /** Id of the outcome. */
    id: z.string().max(100),
    /** Id of the approval request. */
    approval: z.string().max(100),
    /** The answer. */
    reply: approvalAnswer,
  }),
  z.strictObject({
    type: z.literal('reply'),
    /** Id of the outcome. */
    id: z.string().max(100),
    /** Id of the question. */
    question: z.string().max(100),
    /** The answer. */
    reply: questionAnswer,
  }),
  /** The events to send. Default: none. A client that watches approvals counts as a reachable approver. */
  z.strictObject({
    type: z.literal('watch'),
    /** The types of events. */
    events: z.array(watchedEvent),
  }),
  z.strictObject({ type: z.literal('ping') }),
])
export type ClientMessage = z.input<typeof clientMessage>

const callError = z.object({
  code: z.string(),
  message: z.string(),
  hint: z.string().optional(),
  retryable: z.boolean().optional(),
})

/** What the server says. All but welcome and pong have a `seq`, counted per session, and come again until received. */
export const serverMessage = z.discriminatedUnion('type', [
  z.object({ type: z.literal('welcome'), session: z.string(), resumed: z.boolean(), principal: z.string() }),
  z.object({ type: z.literal('pong') }),
  /** An event of a call with `stream`; see `CallEvent`. */
  z.object({
    type: z.literal('progress'),
    seq: z.number(),
    id: z.string(),
    event: z.looseObject({ type: z.string() }),
  }),
  /** The one end of a call; `result` is a `ToolResult`. */
  z.object({ type: z.literal('result'), seq: z.number(), id: z.string(), result: z.looseObject({ ok: z.boolean() }) }),
  /** The client is to execute one of its tools. */
  z.object({ type: z.literal('execute'), seq: z.number(), callId: z.string(), tool: z.string(), input: z.unknown() }),
  /** It need not any more. */
  z.object({ type: z.literal('abandon'), seq: z.number(), callId: z.string(), reason: z.string() }),
  /** What became of `tools`, `approve`, `reply`. */
  z.object({ type: z.literal('done'), seq: z.number(), id: z.string(), outcome: z.unknown() }),
  z.object({ type: z.literal('event'), seq: z.number(), event: serviceEvent }),
  z.object({ type: z.literal('error'), seq: z.number().optional(), id: z.string().optional(), error: callError }),
])
export type ServerMessage = z.infer<typeof serverMessage>
