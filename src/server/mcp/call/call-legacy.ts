import type { Result, ServerContext } from '@modelcontextprotocol/server'
import type { ClientView } from '../client-view.ts'
import { legacyTask } from '../tasks/task-form.ts'
import { answerInTime } from './answer-in-time.ts'
import type { CallParams } from './call-params.ts'
import type { Connection } from './connection.ts'
import { elicit } from './elicit.ts'
import type { CallStart } from './ongoing-call.ts'
import { progressOf } from './progress.ts'
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
