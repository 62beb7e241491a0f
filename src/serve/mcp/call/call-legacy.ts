import type { Result, ServerContext } from '@modelcontextprotocol/server'
import type { ClientView } from '../client-view.ts'
import { legacyTask } from '../tasks/task-form.ts'
import type { CallParams } from './call-params.ts'
import type { Connection } from './connection.ts'
import { elicit } from './elicit.ts'
import { progressOf } from './progress.ts'
import { eventListener, startCall } from './start-call.ts'

/** A call of the legacy era: what it asks goes to the client while its request waits. Gone or cancelled, it stops. */
export function callLegacy(
  connection: Connection,
  client: ClientView,
  params: CallParams,
  context: ServerContext,
): Promise<Result> {
  if (params.task) return Promise.resolve(callAsTask(connection, client, params, context))
  const { signal } = context.mcpReq
  return startCall(connection, client, {
    params,
    context,
    signal,
    onAsk: (ask, call) => void elicit(call, ask, context),
  }).ended
}

/** The request ends at once; what the call asks waits until the client comes for the result. */
function callAsTask(connection: Connection, client: ClientView, params: CallParams, context: ServerContext): Result {
  const { tasks } = connection.session
  tasks.checkRoom()
  const call = startCall(connection, client, { params, context, hearsEvents: true })
  const task = tasks.add(call, params.task?.ttl)
  const tell = eventListener(connection, params, context)
  call.onEvent = (event) => {
    tell?.(event)
    const message = progressOf(event)
    if (message !== undefined) tasks.note(task, message)
  }
  return { task: legacyTask(task) }
}
