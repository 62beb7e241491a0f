import {
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  RELATED_TASK_META_KEY,
  type Result,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { untilAborted } from '../../../value/until-aborted.ts'
import { parseFormAnswer } from '../ask/elicitation.ts'
import { parsePage, parseTask } from '../call/call-params.ts'
import type { Connection } from '../call/connection.ts'
import { elicit } from '../call/elicit.ts'
import { TASKS_EXTENSION, viewClient } from '../client-view.ts'
import { detailedTask, legacyTask } from './task-form.ts'

/** tasks/list, which only the legacy era has. */
export function listTasks({ session }: Connection, params: unknown): Result {
  parsePage('tasks/list', params)
  return { tasks: session.tasks.list().map(legacyTask) }
}

/** tasks/get: how far it is; in the modern era also what came out or what is asked. */
export function getTask(connection: Connection, params: unknown, context: ServerContext): Result {
  assertKnowsTasks(connection, context)
  const { session, era } = connection
  const task = session.tasks.get(parseTask('tasks/get', params).taskId)
  return era === 'legacy' ? legacyTask(task) : detailedTask(task)
}

/** tasks/result of the legacy era: waits for the end, and is the way to the client for what the call asks meanwhile. */
export async function awaitTask({ session }: Connection, params: unknown, context: ServerContext): Promise<Result> {
  const { id, call, end } = session.tasks.get(parseTask('tasks/result', params).taskId)
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

/** tasks/cancel: stops the call. In the legacy era it is an error when it had ended. */
export function cancelTask(connection: Connection, params: unknown, context: ServerContext): Result {
  assertKnowsTasks(connection, context)
  const { session, era } = connection
  const task = session.tasks.get(parseTask('tasks/cancel', params).taskId)
  const isCancelled = session.tasks.cancel(task)
  if (era === 'modern') return {}
  if (isCancelled) return legacyTask(task)
  const { status } = legacyTask(task)
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Cannot cancel a task that is ${status}.`)
}

/** tasks/update of the modern era: brings the answers to what a task asked. */
export function updateTask(connection: Connection, params: unknown, context: ServerContext): Result {
  assertKnowsTasks(connection, context)
  const { call } = connection.session.tasks.get(parseTask('tasks/update', params).taskId)
  for (const [key, value] of Object.entries(context.mcpReq.inputResponses ?? {})) {
    const answer = parseFormAnswer(value)
    if (answer) call.answer(key, answer)
  }
  return {}
}

/** The modern era has tasks as an extension, which a client declares with each request. */
function assertKnowsTasks({ server, session, era }: Connection, context: ServerContext): void {
  if (era === 'legacy' || viewClient(server, context, era, session.knownName).takesTasks) return
  throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } })
}
