import { z } from 'zod'
import { effect, fix, pageQuery } from './shapes.ts'

/** Query of `GET /v1/tools`. */
export const toolQuery = z.object({
  /** `hub` (the default) says everything; the others are what a provider's API takes. */
  form: z.enum(['hub', 'openai', 'anthropic', 'mcp']).default('hub'),
  dialect: z.string().optional(),
  /** Also those that this principal does not see, and why. */
  hidden: z.coerce.boolean().optional(),
  /** Only those that this search finds, best first: at most 50, and none that this principal does not see. */
  search: z.string().min(1).max(2_000).optional(),
})

/** A tool in the hub's own form. */
export const toolEntry = z.object({
  /** Canonical. */
  tool: z.string(),
  /** As models call it. */
  name: z.string(),
  /** A short name for people. */
  title: z.string().optional(),
  /** When to use it, for the model. */
  description: z.string(),
  /** The form that it came in: `core`, `mcp`, `langchain` and others. */
  kind: z.string(),
  /** The group that it is in. */
  group: z.string(),
  /** The capabilities that it declares. */
  capabilities: z.array(z.string()),
  /** Whether this principal sees it. */
  visible: z.boolean(),
  /** What hides it. */
  why: z.string().optional(),
  /** JSON Schemas. */
  parameters: z.record(z.string(), z.unknown()),
  /** JSON Schema of its data. */
  output: z.record(z.string(), z.unknown()).optional(),
})
export type ToolEntry = z.infer<typeof toolEntry>
export const toolList = z.object({ tools: z.array(toolEntry) })

/** A run keeps this much of what the user said. */
const userText = z.string().max(65_536)

/** What the user said: a text or up to 200. */
const userTexts = z.union([userText, z.array(userText).max(200)], {
  error: 'must be a text or a list of at most 200 texts, each of at most 65,536 characters',
})

/** Body of `POST /v1/tools/{name}/call`; `Idempotency-Key` may come as a header too. */
export const callRequest = z.strictObject({
  /** The arguments. Default: none. */
  input: z.unknown().default({}),
  /** The run whose records, budget and workspace the call belongs to. */
  run: z.string().max(128).optional(),
  /** The agent's conversation. Default: the run. */
  session: z.string().max(200).optional(),
  /** What the call is for; recorded. */
  purpose: z.string().max(2_000).optional(),
  /** Time limit of the call. Default: that of the tool. */
  timeoutMs: z.number().int().positive().optional(),
  /** A call with the same key has one effect, and its result is returned again. */
  idempotencyKey: z.string().min(1).max(512).optional(),
  /** Names a call that may be sent again: one effect, as with `idempotencyKey`, but only for tools with effects. */
  repeatKey: z.string().min(1).max(200).optional(),
  /** The caller's id of the request. */
  requestId: z.string().max(200).optional(),
  /** The caller's id of the task. */
  taskId: z.string().max(200).optional(),
  /** The caller's id of the goal. */
  goalId: z.string().max(200).optional(),
  /**
   * What the user said, in their own words: a text or up to 200. Values of calls that occur in it come from the user. The
   * run keeps it; a text that it knows is not added again. Never text that a model or a tool wrote.
   */
  userText: userTexts.optional(),
  /** Only decide, and execute nothing. Default: false. */
  dryRun: z.boolean().optional(),
  /** Whether a call that needs a person waits for the answer, or ends with `approval_required` and is made again after it. */
  onAsk: z.enum(['wait', 'return']).default('wait'),
})
export type CallBody = z.input<typeof callRequest>

/** Whether the call, made again, has the same result: then it continues when the client is gone. */
export function hasKey({ idempotencyKey, repeatKey, requestId, taskId }: Partial<CallBody>): boolean {
  return idempotencyKey !== undefined || repeatKey !== undefined || (requestId !== undefined && taskId !== undefined)
}

/** What a call returns; see `ToolResult`. */
export const toolResult = z.object({
  ok: z.boolean(),
  status: z.string(),
  callId: z.string(),
  tool: z.string(),
  summary: z.string(),
  data: z.unknown().optional(),
  content: z.array(z.looseObject({ type: z.string() })),
  artifacts: z.array(z.looseObject({ ref: z.string(), name: z.string(), bytes: z.number(), mediaType: z.string() })),
  evidence: z.array(z.object({ type: z.string(), ref: z.string(), summary: z.string() })),
  error: z.object({ code: z.string(), message: z.string(), retryable: z.boolean(), fix }).optional(),
  meta: z.looseObject({ durationMs: z.number(), attempts: z.number() }),
})

/** One call in a list. */
export const callEntry = z.object({
  /** Id of the call. */
  callId: z.string(),
  /** Id of its run. */
  run: z.string(),
  /** Line of its start in the record, or of its end if the start is missing. */
  seq: z.number(),
  /** Canonical name of the tool. */
  tool: z.string(),
  /** Who called, as the caller said. */
  caller: z.string(),
  /** The authenticated principal. */
  principal: z.string().optional(),
  /** Id of the call that made it. */
  parent: z.string().optional(),
  /** `running`, the state of the result, or `interrupted`. */
  status: z.string(),
  /** When it started, in milliseconds since 1970. */
  startedAt: z.number(),
  /** How long it took; absent while it runs. */
  durationMs: z.number().optional(),
  /** How often it was tried; absent if once, or while it runs. */
  attempts: z.number().optional(),
  /** What policy decided. */
  effect: effect.optional(),
  /** The rule that decided. */
  rule: z.string().optional(),
  /** Error code. */
  error: z.string().optional(),
  /** One line about its result. */
  summary: z.string().optional(),
  /** What it asked for, in a line: a path, an address, a command, a query. */
  request: z.string().optional(),
  /** What it touched. */
  targets: z.array(z.string()).optional(),
  /** Who approved it. */
  approvedBy: z.string().optional(),
})
export type CallEntry = z.infer<typeof callEntry>

/** Query of `GET /v1/calls`. */
export const callQuery = pageQuery.extend({
  /** Only calls of this run. */
  run: z.string().optional(),
  /** Only calls of this tool. */
  tool: z.string().optional(),
  /** Only calls of this caller, or principal. */
  caller: z.string().optional(),
  /** A status, or `failed` for every one that is a failure. */
  status: z.string().optional(),
  /** Looked for in the calls. */
  text: z.string().max(200).optional(),
})

export const callList = z.object({ calls: z.array(callEntry), next: z.number().optional() })

/** A line of the record; see docs/reference/records.md. */
export const recordLine = z.looseObject({ seq: z.number(), time: z.string(), type: z.string() })
export type RecordLine = z.infer<typeof recordLine>

/** `GET /v1/calls/{callId}`: the call, its lines in the record, and the calls it made. */
export const callDetail = z.object({
  /** The call. */
  call: callEntry,
  /** Its lines in the record. */
  lines: z.array(recordLine),
  /** The calls that it made. */
  children: z.array(callEntry),
})
export type CallDetail = z.infer<typeof callDetail>
