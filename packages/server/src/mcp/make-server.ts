import {
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  RELATED_TASK_META_KEY,
  type Result,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { untilAborted } from '@tool-hub/core/lib'
import { z } from 'zod'
import { callLegacy, callModern, elicit, parseCall, parseParams } from './call/call-tool.ts'
import type { ClientSession } from './client-session.ts'
import { type Connection, viewClient } from './connection.ts'
import { CONVERSATION_META, CONVERSATION_META_KEY } from './conversation.ts'
import { parseFormAnswer } from './elicitation/forms.ts'
import type { Era } from './options.ts'
import { detailedTask, legacyTask, TASKS_EXTENSION } from './tasks.ts'

type Answer = (connection: Connection, params: unknown, context: ServerContext) => Result | Promise<Result>

const ANSWERS: ReadonlyMap<string, Answer> = new Map<string, Answer>([
  ['tools/list', listTools],
  ['tools/call', callTool],
  ['resources/list', listResources],
  ['resources/templates/list', listResourceTemplates],
  ['resources/read', readResource],
  ['tasks/list', listTasks],
  ['tasks/get', getTask],
  ['tasks/result', awaitTask],
  ['tasks/cancel', cancelTask],
  ['tasks/update', updateTask],
])

/** In the modern era these are an extension; the SDK accepts them only with their own schema. */
const MODERN_TASK_METHODS = ['tasks/get', 'tasks/cancel'] as const
/** No list has a second page. */
const PAGE = z.object({ cursor: z.undefined('this list has one page and no cursor').optional() }).optional()
const IN_CONVERSATION = { _meta: z.object(CONVERSATION_META).optional() }
const READ = z.object({ uri: z.string().min(1).max(2_000), ...IN_CONVERSATION })
const TASK = z.object({ taskId: z.string().min(1).max(200) })
const ANY_PARAMS = { params: z.looseObject({}) }

/**
 * Creates an MCP server for a session. Over HTTP each request of the modern era has its own, so it registers as little
 * as possible: one function handles every method and validates each request once. `method`: the only method that it
 * will be asked for, if known.
 */
export function connectServer(
  session: ClientSession,
  era: Era,
  { method }: { readonly method?: string } = {},
): Connection {
  const { service } = session
  const server = new Server(service.info, service.serverOptions[era])
  const connection: Connection = { session, era, server, listener: undefined }
  const answer = (request: { readonly method: string; readonly params?: unknown }, context: ServerContext) => {
    const own = ANSWERS.get(request.method)
    if (own) return Promise.resolve(own(connection, request.params, context))
    throw new ProtocolError(ProtocolErrorCode.MethodNotFound, 'Method not found')
  }
  // Without a handler the SDK answers with the right HTTP status.
  if (method === undefined || ANSWERS.has(method)) server.fallbackRequestHandler = answer
  for (const name of era === 'modern' ? MODERN_TASK_METHODS : []) {
    if (method !== undefined && method !== name) continue
    server.setRequestHandler(name, ANY_PARAMS, (params, context) => answer({ method: name, params }, context))
  }
  server.onerror = service.report
  connection.listener = service.options.extras?.(server, { era, run: session.run, answer }) ?? undefined
  return connection
}

async function listTools({ session, era }: Connection, params: unknown): Promise<Result> {
  parseParams('tools/list', PAGE, params)
  const { tools } = session.service
  await tools.ready()
  return tools.result(era, session.described)
}

function callTool(connection: Connection, given: unknown, context: ServerContext): Promise<Result> {
  const request = { connection, client: viewClient(connection, context), params: parseCall(given), context }
  return connection.era === 'legacy' ? callLegacy(request) : callModern(request)
}

function listResources({ session }: Connection, params: unknown): Result {
  parseParams('resources/list', PAGE, params)
  const { _meta } = parseParams('resources/list', z.object(IN_CONVERSATION), params ?? {})
  return { resources: session.artifacts.list(session.conversation(_meta?.[CONVERSATION_META_KEY]).run) }
}

function listResourceTemplates(_: Connection, params: unknown): Result {
  parseParams('resources/templates/list', PAGE, params)
  return { resourceTemplates: [] }
}

function readResource({ session }: Connection, params: unknown): Promise<Result> {
  const { uri, _meta } = parseParams('resources/read', READ, params)
  const name = _meta?.[CONVERSATION_META_KEY]
  // A client that names no conversation has the address from a result.
  return session.artifacts.read(uri, name === undefined ? undefined : session.conversation(name).run)
}

/** tasks/list of the legacy era. */
function listTasks({ session }: Connection, params: unknown): Result {
  parseParams('tasks/list', PAGE, params)
  return { tasks: session.tasks.list().map(legacyTask) }
}

/** tasks/get: the status; in the modern era also the result or the requested input. */
function getTask(connection: Connection, params: unknown, context: ServerContext): Result {
  assertKnowsTasks(connection, context)
  const { session, era } = connection
  const task = session.tasks.get(parseParams('tasks/get', TASK, params).taskId)
  return era === 'legacy' ? legacyTask(task) : detailedTask(task)
}

/** tasks/result of the legacy era: waits for the end, and elicits the input that the call needs meanwhile. */
async function awaitTask({ session }: Connection, params: unknown, context: ServerContext): Promise<Result> {
  const { id, call, end } = session.tasks.get(parseParams('tasks/result', TASK, params).taskId)
  if (end?.type === 'cancelled') throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'The task was cancelled.')
  const ask: typeof call.onAsk = (ask) => void elicit(call, ask, context, { taskId: id })
  call.onAsk = ask
  for (const open of call.asks()) ask(open, call)
  try {
    const result = await untilAborted(call.ended, context.mcpReq.signal)
    return { ...result, _meta: { [RELATED_TASK_META_KEY]: { taskId: id } } }
  } finally {
    if (call.onAsk === ask) call.onAsk = undefined
  }
}

/** tasks/cancel: aborts the call. In the legacy era it is an error if it has ended. */
function cancelTask(connection: Connection, params: unknown, context: ServerContext): Result {
  assertKnowsTasks(connection, context)
  const { session, era } = connection
  const task = session.tasks.get(parseParams('tasks/cancel', TASK, params).taskId)
  const isCancelled = session.tasks.cancel(task)
  if (era === 'modern') return {}
  if (isCancelled) return legacyTask(task)
  const { status } = legacyTask(task)
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Cannot cancel a task that is ${status}.`)
}

/** tasks/update of the modern era: has the answers to the requested input. */
function updateTask(connection: Connection, params: unknown, context: ServerContext): Result {
  assertKnowsTasks(connection, context)
  const { call } = connection.session.tasks.get(parseParams('tasks/update', TASK, params).taskId)
  for (const [key, value] of Object.entries(context.mcpReq.inputResponses ?? {})) {
    const answer = parseFormAnswer(value)
    if (answer) call.answer(key, answer)
  }
  return {}
}

/** The modern era has tasks as an extension, which a client declares with each request. */
function assertKnowsTasks(connection: Connection, context: ServerContext): void {
  if (connection.era === 'legacy' || viewClient(connection, context).takesTasks) return
  throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } })
}
