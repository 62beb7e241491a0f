import {
  inputRequired,
  ProtocolError,
  ProtocolErrorCode,
  RELATED_TASK_META_KEY,
  type Result,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { type CallEvent, type Clock, isUserText, type ToolResult, type UserText } from '@tool-hub/core'
import { hashJson, isPlainObject } from '@tool-hub/core/lib'
import { z } from 'zod'
import type { ClientView, Connection } from '../connection.ts'
import { CONVERSATION_META, CONVERSATION_META_KEY } from '../conversation.ts'
import { type FormAnswer, parseFormAnswer, shownLine } from '../elicitation/forms.ts'
import type { PendingInput, RequestState, StateBinding } from '../elicitation/request-states.ts'
import { legacyTask, modernTask } from '../tasks.ts'
import { toCallResult } from './call-result.ts'
import {
  type Ask,
  answerInTime,
  type CallStart,
  createProgressReport,
  type OngoingCall,
  progressOf,
  type ReportProgress,
} from './ongoing-call.ts'

/** Characters of the name of a tool. */
const MAX_NAME_LENGTH = 256

/** What the user said, as a client passes it with a call. */
const USER_TEXT_META_KEY = 'tool-hub/userText'

const PARAMS = z.object({
  name: z.string().min(1).max(MAX_NAME_LENGTH),
  // Not copied: the hub checks the size and depth of arguments.
  arguments: z.custom<Readonly<Record<string, unknown>>>(isPlainObject, 'expected an object').optional(),
  task: z.object({ ttl: z.number().nullish() }).optional(),
  _meta: z
    .object({
      progressToken: z.union([z.string(), z.number()]).optional(),
      ...CONVERSATION_META,
      [USER_TEXT_META_KEY]: z.custom<UserText>(isUserText, 'expected a text or a list of texts').optional(),
    })
    .optional(),
})

/** The parameters of tools/call. */
export type CallParams = z.infer<typeof PARAMS>

/** A request to call a tool. */
export interface CallRequest {
  readonly connection: Connection
  readonly client: ClientView
  readonly params: CallParams
  readonly context: ServerContext
}

/** Parses the parameters of tools/call; throws a protocol error if they are invalid. */
export function parseCall(params: unknown): CallParams {
  return parseParams('tools/call', PARAMS, params)
}

/** Parses the parameters of a method; throws a protocol error if they are invalid. */
export function parseParams<T>(method: string, schema: z.ZodType<T>, params: unknown): T {
  const result = schema.safeParse(params)
  if (result.success) return result.data
  const why = result.error.issues.map(({ path, message }) => `${path.join('.') || 'params'}: ${message}`).join('; ')
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Invalid params for ${method}: ${why.slice(0, 500)}`)
}

/**
 * A call of the legacy era: input requests go to the client while its request waits. The call is aborted if the client
 * cancels it or disconnects; `follow` takes care of that, by default with the signal of the request.
 */
export async function callLegacy(
  request: CallRequest,
  follow: (call: OngoingCall) => (() => void) | undefined = (call) => call.follow(request.context.mcpReq.signal),
): Promise<Result> {
  const { connection, params, context } = request
  if (params.task) return callAsTask(request)
  const report = progressReporter(request)
  const call = startCall(request, report, { onAsk: (ask, call) => void elicit(call, ask, context) })
  const letGo = follow(call)
  const stop = answerInTime(call, { name: params.name, clock: connection.session.service.clock, report })
  try {
    return await call.ended
  } finally {
    stop()
    letGo?.()
  }
}

/** The request ends immediately; input requests wait until the client requests the result. */
function callAsTask(request: CallRequest): Result {
  const { tasks } = request.connection.session
  tasks.checkRoom()
  const own = progressReporter(request)
  const call = startCall(request, own)
  const task = tasks.add(call, request.params.task?.ttl)
  const report = eventListener(request, own)
  call.onEvent = (event) => {
    report?.(event)
    const message = progressOf(event)
    if (message !== undefined) tasks.note(task, message)
  }
  return { task: legacyTask(task) }
}

/** The timeout of approvals. */
const WAIT_MS = 3_600_000

/**
 * Sends an input request to a client of the legacy era. If the client fails, the request is left to the hub's other
 * channels; if somebody else answers first, the client is asked to close its form.
 */
export async function elicit(
  call: OngoingCall,
  { key, form, closed }: Ask,
  context: ServerContext,
  { taskId }: { readonly taskId?: string } = {},
): Promise<void> {
  const closing = new AbortController()
  const close = () => closing.abort(new Error('The call has ended.'))
  closed.then(close, close)
  const related = taskId !== undefined && { _meta: { [RELATED_TASK_META_KEY]: { taskId } } }
  try {
    const answer = await context.mcpReq.send(
      { method: 'elicitation/create', params: { mode: 'form', ...form, ...related } },
      { timeout: WAIT_MS, signal: closing.signal },
    )
    call.answer(key, parseFormAnswer(answer))
  } catch {
    // The record says that nobody answered; why the client failed does not matter.
    call.answer(key, undefined)
  }
}

/**
 * A call of the modern era, which has no requests to the client: an input request ends the round as `input_required`,
 * and the client returns with the answers and the sealed state. The call is held until then; if it is gone, an approval
 * still counts for the same call.
 */
export async function callModern(request: CallRequest): Promise<Result> {
  const report = progressReporter(request)
  const { session } = request.connection
  const sealed: unknown = request.context.mcpReq.requestState()
  if (sealed === undefined || !mayWait(request)) return nextTurn(request, report, startCall(request, report))
  const state = await session.service.states.open(sealed, boundTo(request))
  const held = session.held.take(state.id)
  if (held) {
    resume(request, report, held, state)
    return nextTurn(request, report, held)
  }
  // The question was asked during the work, which has ended.
  if (state.asked.some(({ hash }) => hash === undefined)) return tooLate()
  return nextTurn(request, report, startCall(request, report, { answers: approvalsOf(request, state) }))
}

/** A client that supports neither forms nor tasks waits for its result. */
function mayWait({ client }: CallRequest): boolean {
  return client.canElicit || client.takesTasks
}

function resume(request: CallRequest, report: Report, call: OngoingCall, { asked }: RequestState): void {
  call.onEvent = eventListener(request, report)
  for (const { key } of asked) {
    const answer = answerTo(request, key)
    // Without an answer the request stays open, and is sent again.
    if (answer) call.answer(key, answer)
  }
}

async function nextTurn(request: CallRequest, report: Report, call: OngoingCall): Promise<Result> {
  const { connection, client, params, context } = request
  const { session } = connection
  const { clock, taskAfterMs } = session.service
  const letGo = call.follow(context.mcpReq.signal)
  const late = client.takesTasks && session.tasks.hasRoom ? timer(clock, taskAfterMs) : undefined
  const stop = late ? () => {} : answerInTime(call, { name: params.name, clock, report })
  try {
    const turn = await call.turn(late?.over)
    if (turn === 'ended') return await call.ended
    if (turn === 'late') return toTask(connection, call)
    return await askClient(request, call)
  } finally {
    late?.cancel()
    stop()
    letGo()
  }
}

async function askClient(request: CallRequest, call: OngoingCall): Promise<Result> {
  const { held, service } = request.connection.session
  if (held.isFull) {
    call.giveUpAsking()
    return call.ended
  }
  const asks = call.asks()
  const asked: PendingInput[] = asks.map(({ key, hash }) => ({ key, hash }))
  const { id, state } = await service.states.seal(boundTo(request), asked)
  held.hold(id, call)
  const inputRequests = Object.fromEntries(asks.map(({ key, form }) => [key, inputRequired.elicit(form)]))
  return inputRequired({ inputRequests, requestState: state })
}

/** From now on the call belongs to the session, not to the request. */
function toTask({ session: { tasks } }: Connection, call: OngoingCall): Result {
  const task = tasks.add(call, undefined)
  call.onEvent = (event) => {
    const message = progressOf(event)
    if (message !== undefined) tasks.note(task, message)
  }
  return { resultType: 'task', ...modernTask(task) }
}

function boundTo({ connection, params }: CallRequest): StateBinding {
  const { principal } = connection.session
  return { principal, tool: params.name, digest: hashJson(params.arguments ?? {}) }
}

function approvalsOf(request: CallRequest, { asked }: RequestState): ReadonlyMap<string, FormAnswer> {
  const answers = new Map<string, FormAnswer>()
  for (const { key, hash } of asked) {
    const answer = answerTo(request, key)
    if (answer && hash !== undefined) answers.set(hash, answer)
  }
  return answers
}

function answerTo({ context }: CallRequest, key: string): FormAnswer | undefined {
  const responses = context.mcpReq.inputResponses ?? {}
  return Object.hasOwn(responses, key) ? parseFormAnswer(responses[key]) : undefined
}

function tooLate(): Result {
  const text = 'APPROVAL_TIMEOUT: The answer came too late, the call has ended. Call again when somebody is there.'
  return { content: [{ type: 'text', text }], isError: true }
}

function timer(clock: Clock, ms: number): { readonly over: Promise<void>; readonly cancel: () => void } {
  let cancel = () => {}
  const over = new Promise<void>((resolve) => {
    cancel = clock.after(ms, resolve, { background: true })
  })
  return { over, cancel }
}

type Report = ReportProgress | undefined

/** Starts a call in the run of its session. */
function startCall(
  request: CallRequest,
  report: Report,
  { answers, onAsk }: Pick<CallStart, 'answers' | 'onAsk'> = {},
): OngoingCall {
  const { connection, client, params } = request
  const { session } = connection
  const { name } = params
  const { run, client: unnamed } = session.conversation(params._meta?.[CONVERSATION_META_KEY])
  return session.start({
    name,
    run,
    client: unnamed,
    input: params.arguments ?? {},
    userText: params._meta?.[USER_TEXT_META_KEY],
    caller: client.caller,
    canAsk: client.canElicit && session.asksClient,
    answers,
    onAsk,
    onEvent: eventListener(request, report),
    toResult: (result) => {
      const tool = session.service.tools.find(name)
      if (!tool && isUnknown(result)) throw unknownTool(name)
      session.noteDescribed(name, result)
      return toCallResult(result, {
        schema: tool?.outputSchema,
        uriOf: (artifact) => session.artifacts.uriOf(artifact, run),
      })
    },
  })
}

/** Returns a function that sends progress; `undefined` if the client does not request it. */
function progressReporter({ connection, params, context }: CallRequest): Report {
  const token = params._meta?.progressToken
  return token === undefined ? undefined : createProgressReport(context, token, connection.session.service.clock)
}

/** Returns the listener for the events of a call while this request waits for it. */
function eventListener(
  { connection: { listener }, context }: CallRequest,
  report: Report,
): ((event: CallEvent) => void) | undefined {
  if (!listener) return report
  return (event) => {
    listener(event, context)
    report?.(event)
  }
}

/** A tool that is hidden is a result: it says why, and which key shows it. */
function isUnknown({ error }: ToolResult): boolean {
  return error?.code === 'TOOL_NOT_FOUND'
}

function unknownTool(name: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${shownLine(name, 128)}`)
}
