import { RELATED_TASK_META_KEY, type Result, type ServerContext } from '@modelcontextprotocol/server'
import type { ClientView, Connection } from '../connection.ts'
import { parseFormAnswer } from '../elicitation/forms.ts'
import { legacyTask } from '../tasks.ts'
import type { Ask, CallStart, OngoingCall } from './ongoing-call.ts'
import { answerInTime, progressOf } from './progress.ts'
import type { CallParams } from './start-call.ts'
import { eventListener, progressTeller, startCall } from './start-call.ts'

/** A call of the legacy era: what it asks goes to the client while its request waits. Gone or cancelled, it stops. */
export async function callLegacy(
  connection: Connection,
  client: ClientView,
  params: CallParams,
  context: ServerContext,
): Promise<Result> {
  if (params.task) return callAsTask(connection, client, params, context)
  const { clock } = connection.session.service
  const tell = progressTeller(connection, params, context)
  const onAsk: CallStart['onAsk'] = (ask, call) => void elicit(call, ask, context)
  const call = startCall(connection, client, { params, context, tell, onAsk })
  const letGo = call.follow(context.mcpReq.signal)
  const stop = answerInTime(call, { name: params.name, clock, tell })
  try {
    return await call.ended
  } finally {
    stop()
    letGo()
  }
}

/** The request ends at once; what the call asks waits until the client comes for the result. */
function callAsTask(connection: Connection, client: ClientView, params: CallParams, context: ServerContext): Result {
  const { tasks } = connection.session
  tasks.checkRoom()
  const told = progressTeller(connection, params, context)
  const call = startCall(connection, client, { params, context, tell: told })
  const task = tasks.add(call, params.task?.ttl)
  const tell = eventListener(connection, context, told)
  call.onEvent = (event) => {
    tell?.(event)
    const message = progressOf(event)
    if (message !== undefined) tasks.note(task, message)
  }
  return { task: legacyTask(task) }
}

/** As long as approvals wait. */
const WAIT_MS = 3_600_000

/**
 * Puts an ask to a client of the legacy era, beside the request that it belongs to. A client that fails to ask leaves it
 * to the hub's other ways; when nobody needs the answer any more, because somebody else answered, the client is told to
 * stop asking.
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
    // Why it could not ask is its own affair; that nobody answered is on record.
    call.answer(key, undefined)
  }
}
