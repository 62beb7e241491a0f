import { RELATED_TASK_META_KEY, type Result, type ServerContext } from '@modelcontextprotocol/server'
import type { ClientView, Connection } from '../connection.ts'
import { parseFormAnswer } from '../elicitation/forms.ts'
import { legacyTask } from '../tasks.ts'
import type { Ask, CallStart, OngoingCall } from './ongoing-call.ts'
import { answerInTime, progressOf } from './progress.ts'
import { type CallParams, eventListener, progressReporter, startCall } from './start-call.ts'

/**
 * A call of the legacy era: input requests go to the client while its request waits. The call is aborted if the client
 * cancels it or disconnects.
 */
export async function callLegacy(
  connection: Connection,
  client: ClientView,
  params: CallParams,
  context: ServerContext,
): Promise<Result> {
  if (params.task) return callAsTask(connection, client, params, context)
  const { clock } = connection.session.service
  const report = progressReporter(connection, params, context)
  const onAsk: CallStart['onAsk'] = (ask, call) => void elicit(call, ask, context)
  const call = startCall(connection, client, { params, context, report, onAsk })
  const letGo = call.follow(context.mcpReq.signal)
  const stop = answerInTime(call, { name: params.name, clock, report })
  try {
    return await call.ended
  } finally {
    stop()
    letGo()
  }
}

/** The request ends immediately; input requests wait until the client requests the result. */
function callAsTask(connection: Connection, client: ClientView, params: CallParams, context: ServerContext): Result {
  const { tasks } = connection.session
  tasks.checkRoom()
  const own = progressReporter(connection, params, context)
  const call = startCall(connection, client, { params, context, report: own })
  const task = tasks.add(call, params.task?.ttl)
  const report = eventListener(connection, context, own)
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
 * channels; if somebody else answers first, the client is own to close its form.
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
